// SPDX-License-Identifier: Apache-2.0
#include "front/config/environment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/nearest.h"
#include "front/config/ollama.h"
#include "front/config/value.h"

namespace hearth::front {
namespace {

// Variables of ours that are no options: where to find things, and what the clients use.
constexpr std::array<std::string_view, 5> kOthers{"HEARTH_CONFIG", "HEARTH_HOST", "HEARTH_API_KEY",
                                                  "HEARTH_BIN", "HEARTH_MODELS"};

std::string nearest_variable(std::string_view name) {
  std::vector<std::string> variables{kOthers.begin(), kOthers.end()};
  for (const Option& option : options()) variables.push_back(variable_of(option.name));
  const std::vector<std::string_view> views{variables.begin(), variables.end()};
  return std::string{nearest(name, views)};
}

Result<Bent> unbent(const Option& option, std::string_view text) {
  Result<Value> value = parse_value(option, text);
  if (!value) return Failed{std::move(value).error()};
  return Bent{std::move(*value), {}};
}

void read_fallback(Config& config, const Option& option, std::string_view text,
                   Problems& problems) {
  const std::string variable{option.ollama.variable};
  const auto translated = option.ollama.translate(text);
  if (!translated) return problems.add(variable, translated.error().message());
  if (!*translated) return;
  const bool bends = option.ollama.unfit == Fallback::Unfit::kBent;
  Result<Bent> taken = bends ? parse_bent(option, **translated) : unbent(option, **translated);
  if (!taken) return problems.add(variable, taken.error().message());
  const bool changed = taken->value != value_in(config, option);
  for (std::string& reason : taken->complaints) {
    config.notices.push_back({Notice::Kind::kOllamaInPart, variable, std::string{text},
                              std::string{option.name}, std::move(reason)});
  }
  if (!changed && !taken->complaints.empty()) return;  // nothing of it is left
  set_value(config, option, std::move(taken->value));
  config.set_by[std::string{option.name}] = Origin{Source::kOllama, variable};
  config.notices.push_back(
      {Notice::Kind::kFromOllama, variable, std::string{text}, std::string{option.name}});
}

}  // namespace

Environment process_environment() {
  Environment environment;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text{*entry};
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

std::string variable_of(std::string_view option) {
  std::string name = "HEARTH_";
  for (const char c : option) {
    name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

void read_setting(Config& config, const Setting& setting, Source source, Problems& problems) {
  const Option* option = find_option(setting.name);
  if (option == nullptr) {
    return problems.add(setting.place, fmt::format("there is no option \"{}\"{}", setting.name,
                                                   did_you_mean(setting.name, option_names())));
  }
  Result<Value> value = parse_value(*option, setting.value);
  if (!value) return problems.add(setting.place, value.error().message());
  set_value(config, *option, std::move(*value));
  config.set_by[setting.name] = Origin{source, setting.place};
}

void read_hearth_variables(Config& config, const Environment& environment, Problems& problems) {
  for (const Option& option : options()) {
    const auto found = environment.find(variable_of(option.name));
    if (found == environment.end()) continue;
    const Setting setting{std::string{option.name}, found->second, found->first};
    read_setting(config, setting, Source::kEnvironment, problems);
  }
  for (const auto& [name, value] : environment) {
    if (!name.starts_with("HEARTH_") || std::ranges::find(kOthers, name) != kOthers.end()) continue;
    const bool is_option = std::ranges::any_of(
        options(), [&name](const Option& option) { return variable_of(option.name) == name; });
    if (is_option) continue;
    config.notices.push_back({Notice::Kind::kUnknownVariable, name, "", nearest_variable(name)});
  }
}

void read_ollama_variables(Config& config, const Environment& environment, Problems& problems) {
  std::vector<std::string_view> known{"OLLAMA_MODELS"};  // no option: it says where a store lies
  for (const Option& option : options()) {
    if (option.ollama.variable.empty()) continue;
    known.push_back(option.ollama.variable);
    const auto found = environment.find(std::string{option.ollama.variable});
    if (found == environment.end() || config.set_by.contains(std::string{option.name})) continue;
    const std::string_view text = ollama::value_of(found->second);
    if (!text.empty()) read_fallback(config, option, text, problems);
  }
  for (const auto& [name, value] : environment) {
    if (!name.starts_with("OLLAMA_") || std::ranges::find(known, name) != known.end()) continue;
    config.notices.push_back({Notice::Kind::kOllamaIgnored, name, "", ""});
  }
}

}  // namespace hearth::front
