// SPDX-License-Identifier: Apache-2.0
#include "front/config/change.h"

#include <fmt/format.h>

#include <set>
#include <string_view>

#include "front/config/value.h"

namespace hearth::front {
namespace {

void copy_origin(Config& running, const Config& next, const std::string& option) {
  const auto set = next.set_by.find(option);
  if (set == next.set_by.end()) {
    running.set_by.erase(option);
  } else {
    running.set_by[option] = set->second;
  }
}

void take_model(Config& running, const Config& next, const std::string& key, ConfigChange& change) {
  const auto section = next.models.find(key);
  const ModelOptions wanted = section == next.models.end() ? ModelOptions{} : section->second;
  ModelOptions& now = running.models[key];
  if (!wanted.name.empty()) now.name = wanted.name;
  bool says_anything = section != next.models.end();
  for (const ModelOption& option : model_options()) {
    const auto value = value_in(wanted, option);
    const bool differs = value != value_in(now, option);
    const std::string shown = fmt::format("models.\"{}\".{}", now.name, option.name);
    if (differs && option.effect == Effect::kLive) {
      if (value) {
        set_value(now, option, *value);
      } else {
        clear_value(now, option);
      }
      change.changed.push_back(shown);
    } else if (differs) {
      change.needs_restart.push_back(shown);
    }
    if (!differs || option.effect == Effect::kLive) {
      copy_origin(running, next, fmt::format("models.{}.{}", key, option.name));
    }
    says_anything = says_anything || value_in(now, option).has_value();
  }
  if (!says_anything) running.models.erase(key);
}

// Sections that are taken over as a whole, of a map by their names.
template <class Sections>
void take_sections(Config& running, const Config& next, Sections Config::* sections,
                   std::string_view kind, ConfigChange& change) {
  std::set<std::string> names;
  for (const auto& [name, section] : running.*sections) names.insert(name);
  for (const auto& [name, section] : next.*sections) names.insert(name);
  for (const std::string& name : names) {
    const auto now = (running.*sections).find(name);
    const auto wanted = (next.*sections).find(name);
    const bool same = now != (running.*sections).end() && wanted != (next.*sections).end() &&
                      now->second == wanted->second;
    if (!same) change.changed.push_back(fmt::format("{}.\"{}\"", kind, name));
    copy_origin(running, next, fmt::format("{}.{}", kind, name));
  }
  running.*sections = next.*sections;
}

}  // namespace

ConfigChange take_over(Config& running, const Config& next) {
  ConfigChange change;
  for (const Option& option : options()) {
    const std::string name{option.name};
    const Value value = value_in(next, option);
    const bool differs = value != value_in(running, option);
    if (differs && option.effect == Effect::kRestart) {
      change.needs_restart.push_back(name);
      continue;
    }
    if (differs) change.changed.push_back(name);
    set_value(running, option, value);
    copy_origin(running, next, name);
  }
  std::set<std::string> keys;
  for (const auto& [key, model] : running.models) keys.insert(key);
  for (const auto& [key, model] : next.models) keys.insert(key);
  for (const std::string& key : keys) take_model(running, next, key, change);
  take_sections(running, next, &Config::modules, "modules", change);
  take_sections(running, next, &Config::protected_services, "protected", change);
  running.file = next.file;
  return change;
}

}  // namespace hearth::front
