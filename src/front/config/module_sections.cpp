// SPDX-License-Identifier: Apache-2.0
#include "front/config/module_sections.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/nearest.h"
#include "front/config/toml_value.h"
#include "front/modules/module_rules.h"

namespace hearth::front {
namespace {

constexpr std::array<std::string_view, 3> kKeys{"text", "file", "models"};

class SectionReader {
 public:
  SectionReader(Config& config, const std::string& path, Problems& problems)
      : config_{config}, path_{path}, problems_{problems} {}

  void read(const toml::key& key, const toml::node& node) {
    name_ = std::string{key.str()};
    const std::string at = place_of(path_, key.source());
    if (const auto good = check_module_name(name_); !good) {
      return problems_.add(at, good.error().message());
    }
    const toml::table* table = node.as_table();
    if (table == nullptr) {
      return problems_.add(
          at, fmt::format("modules.\"{}\" must be a section, not {}", name_, kind_of(node)));
    }
    ModuleOptions module;
    module.name = name_;
    bool right = true;
    for (const auto& [option, value] : *table) right = read_option(option, value, module) && right;
    if (right && module.text.empty() == module.file.empty()) {
      right = complain(at, " must have either text or file");
    }
    if (right) config_.modules[name_] = std::move(module);
    config_.set_by["modules." + name_] = Origin{Source::kFile, at};
  }

 private:
  bool complain(const std::string& at, std::string_view what) {
    problems_.add(at, fmt::format("modules.\"{}\"{}", name_, what));
    return false;
  }

  bool read_option(const toml::key& key, const toml::node& node, ModuleOptions& module) {
    const std::string at = place_of(path_, node.source());
    if (key.str() == "models") return read_models(node, module);
    if (key.str() == "file") return read_file(node, at, module);
    if (key.str() == "text") return read_text(node, at, module);
    return complain(place_of(path_, key.source()),
                    fmt::format(" has no option \"{}\"{}", key.str(),
                                did_you_mean(std::string_view{key.str()}, kKeys)));
  }

  bool read_text(const toml::node& node, const std::string& at, ModuleOptions& module) {
    const auto text = node.value_exact<std::string>();
    if (!text) return complain(at, fmt::format(": text must be a string, not {}", kind_of(node)));
    if (const auto good = check_module_text(*text); !good) {
      return complain(at, ": " + good.error().message());
    }
    module.text = *text;
    return true;
  }

  bool read_file(const toml::node& node, const std::string& at, ModuleOptions& module) {
    const auto file = node.value_exact<std::string>();
    if (!file || file->empty()) return complain(at, ": file must be the path of a file");
    const std::string beside = path_.substr(0, path_.rfind('/') + 1);
    module.file = file->starts_with('/') ? *file : beside + *file;
    return true;
  }

  bool read_models(const toml::node& node, ModuleOptions& module) {
    const toml::array* list = node.as_array();
    if (list == nullptr || (!list->empty() && !list->is_homogeneous<std::string>())) {
      return complain(place_of(path_, node.source()), ": models must be a list of strings");
    }
    std::vector<std::string> names;
    for (const toml::node& item : *list) names.push_back(*item.value<std::string>());
    auto models = canonical_models(names);
    if (!models) {
      return complain(place_of(path_, node.source()), ": models: " + models.error().message());
    }
    module.models = *std::move(models);
    return true;
  }

  Config& config_;
  const std::string& path_;
  Problems& problems_;
  std::string name_;
};

}  // namespace

void read_module_sections(Config& config, const toml::node& modules, const std::string& path,
                          Problems& problems) {
  const toml::table* sections = modules.as_table();
  if (sections == nullptr) {
    return problems.add(place_of(path, modules.source()),
                        fmt::format("modules must be sections such as [modules.\"house\"], not {}",
                                    kind_of(modules)));
  }
  if (sections->size() > kMostModules) {
    problems.add(place_of(path, modules.source()),
                 fmt::format("there may be at most {} modules", kMostModules));
  }
  SectionReader reader{config, path, problems};
  for (const auto& [name, node] : *sections) reader.read(name, node);
}

}  // namespace hearth::front
