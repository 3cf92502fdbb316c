// SPDX-License-Identifier: Apache-2.0
#include "front/config/model_sections.h"

#include <fmt/format.h>

#include <map>

#include "base/nearest.h"
#include "front/config/toml_value.h"
#include "front/config/value.h"
#include "layers/artifact/model_name.h"

namespace hearth::front {
namespace {

class SectionReader {
 public:
  SectionReader(Config& config, const std::string& path, Problems& problems)
      : config_{config}, path_{path}, problems_{problems} {}

  void read_all(const toml::table& sections) {
    // All names first, so that an alias is held against every section.
    for (const auto& [name, node] : sections) read_name({name.str(), place(name)}, node);
    for (const auto& [key, table] : tables_) read_section(key, *table);
  }

 private:
  std::string place(const toml::key& key) const { return place_of(path_, key.source()); }

  void read_name(const PlacedKey& key, const toml::node& node) {
    const auto name = ModelName::parse(key.name);
    if (!name) return problems_.add(key.place, name.error().message());
    if (!node.is_table()) {
      return problems_.add(key.place, fmt::format("models.\"{}\" must be a section, not {}",
                                                  key.name, kind_of(node)));
    }
    if (!claim(*name, key.place, "a section")) return;
    config_.models[name->key()].name = name->canonical();
    tables_[name->key()] = node.as_table();
  }

  // Whether the name was still free.
  bool claim(const ModelName& name, const std::string& at, std::string_view as) {
    const auto [taken, is_new] = taken_.emplace(name.key(), fmt::format("{} at {}", as, at));
    if (is_new) return true;
    problems_.add(at,
                  fmt::format("\"{}\" is already the name of {}", name.canonical(), taken->second));
    return false;
  }

  void read_section(const std::string& key, const toml::table& table) {
    for (const auto& [name, node] : table) {
      const ModelOption* option = find_model_option(name.str());
      if (option == nullptr) {
        unknown({name.str(), place(name)}, node);
        continue;
      }
      std::optional<Value> value = value_of(rules_of(*option), node, path_, problems_);
      if (!value) continue;
      if (option->name == "aliases") value = Value{aliases_of(*node.as_array())};
      set_value(config_.models[key], *option, std::move(*value));
      config_.set_by[fmt::format("models.{}.{}", key, option->name)] =
          Origin{Source::kFile, place_of(path_, node.source())};
    }
  }

  Texts aliases_of(const toml::array& names) {
    Texts aliases;
    for (const toml::node& node : names) {
      const auto name = ModelName::parse(*node.value<std::string_view>());
      if (name && claim(*name, place_of(path_, node.source()), "an alias")) {
        aliases.push_back(name->canonical());
      }
    }
    return aliases;
  }

  void unknown(const PlacedKey& key, const toml::node& node) {
    std::string message = fmt::format("there is no option \"{}\" of a model{}", key.name,
                                      did_you_mean(key.name, model_option_names()));
    if (node.is_table()) {
      message += " A name with a dot or colon wants quotes: [models.\"qwen2.5:7b\"]";
    } else if (find_option(key.name) != nullptr) {
      message = fmt::format("{} is no option of a single model; it belongs above the first section",
                            key.name);
    }
    problems_.add(key.place, message);
  }

  Config& config_;
  const std::string& path_;
  Problems& problems_;
  std::map<std::string, std::string> taken_;          // what each name is, by its key
  std::map<std::string, const toml::table*> tables_;  // by the model's key
};

}  // namespace

void read_model_sections(Config& config, const toml::node& models, const std::string& path,
                         Problems& problems) {
  const toml::table* sections = models.as_table();
  if (sections == nullptr) {
    return problems.add(place_of(path, models.source()),
                        fmt::format("models must be sections such as [models.\"qwen:9b\"], not {}",
                                    kind_of(models)));
  }
  SectionReader{config, path, problems}.read_all(*sections);
}

}  // namespace hearth::front
