// SPDX-License-Identifier: Apache-2.0
//
// FrontService's names: what each of them stands for, and which options of the configuration hold
// for it.
#include <algorithm>
#include <utility>

#include "base/log.h"
#include "front/front_service.h"
#include "layers/artifact/gguf_details.h"

namespace hearth::front {
namespace {

using Aliases = std::vector<std::string>;

bool lists(const Aliases& aliases, const std::string& key) {
  return std::any_of(aliases.begin(), aliases.end(), [&](const std::string& alias) {
    const Result<ModelName> parsed = ModelName::parse(alias);
    return parsed && parsed->key() == key;
  });
}

bool load_alike(const ModelOptions& a, const ModelOptions& b) {
  return a.context == b.context && a.parallel == b.parallel && a.threads == b.threads &&
         a.queue == b.queue && a.exact == b.exact;
}

const NamedModel* exactly(const std::vector<NamedModel>& models, const std::string& key) {
  const auto found = std::find_if(models.begin(), models.end(),
                                  [&](const NamedModel& named) { return named.key == key; });
  return found == models.end() ? nullptr : &*found;
}

}  // namespace

// An alias never hides a name of the catalogue, and stands for a name, not for another alias.
const NamedModel* FrontService::find(const std::string& key) const {
  if (const NamedModel* named = exactly(named_, key)) return named;
  for (const auto& [section, options] : config_.models) {
    if (lists(options.aliases, key)) return exactly(named_, section);
  }
  return nullptr;
}

std::vector<std::string> FrontService::aliases_of(const NamedModel& named) const {
  const auto section = config_.models.find(named.key);
  if (section == config_.models.end()) return {};
  std::vector<std::string> aliases;
  for (const std::string& alias : section->second.aliases) {
    const Result<ModelName> parsed = ModelName::parse(alias);
    if (parsed && find(parsed->key()) == &named) aliases.push_back(alias);
  }
  return aliases;
}

Result<> FrontService::check_removable(const ModelName& name) const {
  const NamedModel* named = find(name.key());
  if (named == nullptr || named->key == name.key()) return {};
  return Failed{Error{ErrorCode::kConflict,
                      "\"" + name.canonical() +
                          "\" is an alias that the configuration gives to \"" + named->name +
                          "\"; remove that, or take the alias out of the file"}
                    .at("model")};
}

// Of several names of one model's files: the one whose section of the configuration holds for all.
// That is the first with a section, by name.
const NamedModel* FrontService::holder_of(const std::string& artifact) const {
  const NamedModel* first = nullptr;
  for (const NamedModel& named : named_) {
    if (named.artifact.id != artifact) continue;
    if (config_.models.contains(named.key)) return &named;
    if (first == nullptr) first = &named;
  }
  return first;
}

void FrontService::warn_of_shared_files(const NamedModel& holder) {
  const ModelOptions held = config_.effective(holder.key);
  for (const NamedModel& named : named_) {
    if (named.artifact.id != holder.artifact.id || !config_.models.contains(named.key)) continue;
    if (load_alike(config_.effective(named.key), held)) continue;
    if (!warned_of_.insert(named.key).second) continue;
    log::warn(
        "config.models_share_files",
        {{"model", named.name}, {"options_of", holder.name}, {"hint", "one model, one worker"}});
  }
}

HostSettings FrontService::host_settings(const std::string& artifact) const {
  const NamedModel* holder = holder_of(artifact);
  const ModelOptions options = config_.effective(holder == nullptr ? "" : holder->key);
  HostSettings settings;
  settings.worker_program = world_.worker_program;
  settings.options.context_limit = static_cast<int>(*options.context);
  settings.options.parallel = static_cast<int>(*options.parallel);
  settings.options.threads = static_cast<int>(*options.threads);
  settings.options.exact = *options.exact;
  settings.options.nice = static_cast<int>(config_.worker_nice);
  settings.options.repack = config_.switches.compiled;
  settings.options.prefix = config_.switches.prefix;
  settings.environment = compiled_.worker_variables();
  settings.queue_limit = static_cast<int>(*options.queue);
  settings.hang_limit = config_.hang_limit();
  return settings;
}

StayTerms FrontService::default_terms(const std::string& artifact) const {
  const NamedModel* holder = holder_of(artifact);
  const std::string key = holder == nullptr ? "" : holder->key;
  return {*config_.effective(key).keep_alive, config_.keep_alive_source(key)};
}

// Brings the models to what catalogue and configuration say of them.
void FrontService::apply_terms() {
  for (const auto& [artifact, model] : models_) {
    if (const NamedModel* holder = holder_of(artifact)) model->update(*holder);
    model->stay().set_default(default_terms(artifact));
  }
}

Task<Result<ModelStatus>> FrontService::copy_model(std::string from, std::string to) {
  Result<ModelName> source = ModelName::parse(from);
  if (!source) co_return Failed{std::move(source).error().at("source")};
  Result<ModelName> target = ModelName::parse(to);
  if (!target) co_return Failed{std::move(target).error().at("destination")};
  const NamedModel* named = find(source->key());
  if (named == nullptr) {
    co_return Failed{
        Error{ErrorCode::kNotFound, "model \"" + source->canonical() + "\" not found"}.at(
            "source")};
  }
  Result<ModelName> real = ModelName::parse(named->name);
  if (!real) co_return Failed{std::move(real).error()};
  auto job = [this, original = *real, copy = *target] { return catalogue_.copy(original, copy); };
  Result<NamedModel> copied = co_await catalogue_pool_.run(world_.loop, std::move(job));
  if (!copied) co_return Failed{std::move(copied).error()};
  log::info("model.copied", {{"model", real->canonical()}, {"to", copied->name}});
  if (auto refreshed = co_await refresh_catalogue(); !refreshed) {
    co_return Failed{std::move(refreshed).error()};
  }
  co_return model(copied->name);
}

Task<Result<ModelDetails>> FrontService::details(std::string name) {
  const Result<ModelStatus> known = model(name);
  if (!known) co_return Failed{known.error()};
  auto job = [&files = world_.files, paths = known->paths] {
    return read_gguf_details(files, paths);
  };
  Result<GgufDetails> read = co_await disk_pool_.run(world_.loop, std::move(job));
  if (!read) co_return Failed{std::move(read).error()};
  ModelDetails details;
  details.metadata = std::move(read->metadata);
  details.chat_template = std::move(read->chat_template);
  details.license_text = std::move(read->license_text);
  details.tensors = std::move(read->tensors);
  details.layers = std::move(read->layers);
  details.need = std::move(read->need);
  if (!known->paths.empty()) {
    std::string first = known->paths.front();
    details.storage = co_await devices_.shown_for(std::move(first));
  }
  co_return details;
}

}  // namespace hearth::front
