// SPDX-License-Identifier: Apache-2.0
#include "front/config.h"

#include <array>
#include <filesystem>
#include <system_error>

#include "front/config/environment.h"
#include "front/config/file.h"
#include "front/config/otel.h"

namespace hearth::front {
namespace {

std::string variable(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

// $<name>, or <below> of the home directory; empty without either. Relative ones do not count, as
// the XDG rules have it.
std::string base_directory(const Environment& environment, const std::string& name,
                           const std::string& below) {
  if (const std::string base = variable(environment, name); base.starts_with('/')) return base;
  const std::string home = variable(environment, "HOME");
  return home.starts_with('/') ? home + below : "";
}

// What follows from options that are right each by itself.
void complete(Config& config, const Environment& environment) {
  if (auto switches = switches_without(config.layers_off)) config.switches = *switches;
  if (config.data.empty()) config.data = default_data_directory(environment);
}

}  // namespace

std::string_view name_of(Source source) {
  static constexpr std::array<std::string_view, 5> kNames{"default", "ollama", "file",
                                                          "environment", "argument"};
  return kNames[static_cast<std::size_t>(source)];
}

ModelOptions Config::effective(const std::string& key) const {
  ModelOptions model;
  if (const auto section = models.find(key); section != models.end()) model = section->second;
  model.context = model.context.value_or(context);
  model.parallel = model.parallel.value_or(parallel);
  model.threads = model.threads.value_or(threads);
  model.queue = model.queue.value_or(queue);
  model.exact = model.exact.value_or(exact);
  model.keep_alive = model.keep_alive.value_or(keep_alive);
  model.priority = model.priority.value_or(0);
  model.ttft_ms = model.ttft_ms.value_or(0);
  model.idle_gap = model.idle_gap.value_or(KeepAlive::after(std::chrono::hours{8}));
  return model;
}

std::string Config::keep_alive_source(const std::string& key) const {
  const auto section = models.find(key);
  if (section != models.end() && section->second.keep_alive) return "configuration";
  const auto set = set_by.find("keep_alive");
  if (set == set_by.end()) return "default";
  return set->second.source == Source::kOllama ? set->second.place : "configuration";
}

std::chrono::seconds Config::hang_limit() const {
  constexpr std::chrono::seconds kForEver = std::chrono::hours{24 * 365};
  return hang_seconds == 0 ? kForEver : std::chrono::seconds{hang_seconds};
}

log::Level Config::level() const {
  if (log_level == "debug") return log::Level::kDebug;
  if (log_level == "warn") return log::Level::kWarning;
  return log_level == "error" ? log::Level::kError : log::Level::kInfo;
}

std::string default_data_directory(const Environment& environment) {
  const std::string base = base_directory(environment, "XDG_DATA_HOME", "/.local/share");
  return base.empty() ? "/var/lib/hearth" : base + "/hearth";
}

std::string config_file(const ConfigSources& sources) {
  if (!sources.file.empty()) return sources.file;
  if (std::string named = variable(sources.environment, "HEARTH_CONFIG"); !named.empty()) {
    return named;
  }
  const std::string own = base_directory(sources.environment, "XDG_CONFIG_HOME", "/.config");
  std::error_code ignored;  // a place that cannot be looked at has no file for us
  if (!own.empty() && std::filesystem::exists(own + "/hearth/hearth.toml", ignored)) {
    return own + "/hearth/hearth.toml";
  }
  const std::string system = "/etc/hearth/hearth.toml";
  return std::filesystem::exists(system, ignored) ? system : "";
}

Result<Config> load_config(const ConfigSources& sources) {
  Config config;
  Problems problems;
  config.file = config_file(sources);
  if (!config.file.empty()) read_config_file(config, config.file, problems);
  read_hearth_variables(config, sources.environment, problems);
  for (const Setting& setting : sources.arguments) {
    read_setting(config, setting, Source::kArgument, problems);
  }
  // Last, although they are the weakest: only what nobody has set is looked at.
  read_ollama_variables(config, sources.environment, problems);
  read_otel_variables(config, sources.environment);
  if (!problems.empty()) return Failed{problems.error()};
  complete(config, sources.environment);
  return config;
}

}  // namespace hearth::front
