// SPDX-License-Identifier: Apache-2.0
#include "front/config/file.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/nearest.h"
#include "front/config/model_sections.h"
#include "front/config/module_sections.h"
#include "front/config/protected_sections.h"
#include "front/config/toml_value.h"
#include "front/config/value.h"

namespace hearth::front {
namespace {

constexpr std::size_t kLargest = 1 << 20;
constexpr std::string_view kTraces = "traces";

Result<std::string> contents_of(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::fopen(path.c_str(), "re"),
                                                             &std::fclose};
  if (!file) return fail_errno("cannot be read", errno, ErrorCode::kInvalid);
  std::string text(kLargest + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) {
    return fail_errno("cannot be read", errno, ErrorCode::kInvalid);
  }
  if (text.size() > kLargest) {
    return fail(ErrorCode::kInvalid, "is larger than 1 MiB: this is no configuration");
  }
  return text;
}

void unknown_key(const PlacedKey& key, const toml::node& node, Problems& problems) {
  std::vector<std::string_view> known = option_names();
  known.push_back("models");
  known.push_back("modules");
  known.push_back("protected");
  known.push_back("traces");
  const char* what = node.is_table() ? "section or option" : "option";
  problems.add(key.place, fmt::format("there is no {} \"{}\"{}", what, key.name,
                                      did_you_mean(key.name, known)));
}

class Reader {
 public:
  Reader(Config& config, const std::string& path, Problems& problems)
      : config_{config}, path_{path}, problems_{problems} {}

  void read(const toml::table& table) {
    const toml::node* models = table.get("models");
    if (models != nullptr) read_model_sections(config_, *models, path_, problems_);
    const toml::node* modules = table.get("modules");
    if (modules != nullptr) read_module_sections(config_, *modules, path_, problems_);
    const toml::node* services = table.get("protected");
    if (services != nullptr) read_protected_sections(config_, *services, path_, problems_);
    for (const auto& [key, node] : table) {
      const bool section =
          key.str() == "models" || key.str() == "modules" || key.str() == "protected";
      if (key.str() == kTraces) {
        read_traces(node);
      } else if (!section) {
        read_option({key.str(), place_of(path_, key.source())}, node);
      }
    }
  }

 private:
  // [traces] endpoint is the option traces_endpoint, and so on.
  void read_traces(const toml::node& node) {
    const toml::table* section = node.as_table();
    if (section == nullptr) {
      return problems_.add(place_of(path_, node.source()),
                           fmt::format("traces must be a section, not {}", kind_of(node)));
    }
    for (const auto& [key, value] : *section) {
      const std::string name = fmt::format("{}_{}", kTraces, key.str());
      read_option({name, place_of(path_, key.source())}, value);
    }
  }

  void read_option(const PlacedKey& key, const toml::node& node) {
    const Option* option = find_option(key.name);
    if (option == nullptr) return unknown_key(key, node, problems_);
    std::optional<Value> value = value_of(*option, node, path_, problems_);
    if (!value) return;
    set_value(config_, *option, std::move(*value));
    config_.set_by[std::string{option->name}] =
        Origin{Source::kFile, place_of(path_, node.source())};
  }

  Config& config_;
  const std::string& path_;
  Problems& problems_;
};

}  // namespace

void read_config_file(Config& config, const std::string& path, Problems& problems) {
  Result<std::string> text = contents_of(path);
  if (!text) return problems.add(path, text.error().message());
  try {
    Reader{config, path, problems}.read(toml::parse(*text, path));
  } catch (const toml::parse_error& error) {
    problems.add(place_of(path, error.source()), error.description());
  }
}

}  // namespace hearth::front
