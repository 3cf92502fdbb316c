// SPDX-License-Identifier: Apache-2.0
#include "front/compiled_room.h"

#include <algorithm>
#include <utility>

#include "layers/compiled/stored_load_set.h"

namespace hearth::front {

CompiledRoom::CompiledRoom(World world)
    : world_{std::move(world)},
      drivers_{{world_.loop, world_.pool, world_.files, world_.data + "/compiled/drivers",
                world_.engine, world_.environment},
               keeps() ? DriverCaches::Keep::kOn : DriverCaches::Keep::kOff},
      store_{store_world()},
      builder_{{world_.loop, store_,
                [this](const std::string& artifact) { return content(artifact); }, world_.host}},
      tasks_{world_.loop} {}

CompiledStore::World CompiledRoom::store_world() {
  return {world_.loop,
          world_.pool,
          world_.files,
          world_.clock,
          world_.data + "/compiled",
          [this] { return room(); },
          [this](const std::string& artifact) { return content(artifact); },
          [this](const std::string& digest) { return models_with(digest); },
          [this](const std::string& artifact) {
            const NamedModel* model = named(artifact);
            return model == nullptr ? artifact : model->key;
          }};
}

Task<void> CompiledRoom::tidy() {
  const auto pass = tasks_.enter();
  if (!pass || !world_.enabled) co_return;
  co_await drivers_.drop_others();
  co_await keep_drivers_within_budget();
  co_await store_.open();
}

Task<void> CompiledRoom::stop() {
  co_await builder_.stop();
  co_await store_.stop();
  co_await tasks_.close();
}

// ---- loads ----

Task<StoredRepack> CompiledRoom::find(std::string artifact, wire::CompileKey key) {
  StoredRepack found;
  if (!keeps()) co_return found;
  std::string asked = artifact;
  found = co_await store_.find(std::move(asked), std::move(key));
  if (meets_new_drivers(artifact)) store_.set_cause(artifact, CompiledCause::kDriver);
  co_return found;
}

bool CompiledRoom::meets_new_drivers(const std::string& artifact) {
  const ModelHost* host = world_.host(artifact);
  const bool has_devices = host != nullptr && host->ready() && !host->ready()->devices.empty();
  return drivers_.drivers_changed() && has_devices && met_drivers_.insert(artifact).second;
}

void CompiledRoom::note_load(const ModelHost& host) {
  const std::string& artifact = host.model().artifact;
  if (!host.last_load()) return;
  const wire::LoadedMessage& loaded = host.last_load()->loaded;
  if (host.ready()) ready_[artifact] = *host.ready();
  store_.note_load(artifact, loaded);
  if (uses_device(artifact)) world_.loop.spawn(look_at_drivers());
  if (keeps() && loaded.repack == "built") builder_.want(artifact);
}

Task<void> CompiledRoom::look_at_drivers() {
  const auto pass = tasks_.enter();
  if (pass) co_await keep_drivers_within_budget();
}

// Drivers know nothing of the budget: beyond it they begin anew.
Task<void> CompiledRoom::keep_drivers_within_budget() {
  const Bytes size = co_await drivers_.size();
  if (size > world_.budget) (void)co_await drivers_.drop();
}

LoadSet CompiledRoom::load_set(const Artifact& artifact) const {
  const CompiledFile* file = keeps() ? store_.stored(artifact.id, key_of(artifact.id)) : nullptr;
  if (file == nullptr) return artifact.load_set();
  return load_set_with(artifact.load_set(), file->table, file->path);
}

// ---- what is known ----

const NamedModel* CompiledRoom::named(const std::string& artifact) const {
  const auto found =
      std::find_if(world_.models.begin(), world_.models.end(),
                   [&](const NamedModel& model) { return model.artifact.id == artifact; });
  return found == world_.models.end() ? nullptr : &*found;
}

std::optional<std::string> CompiledRoom::content(const std::string& artifact) const {
  const NamedModel* model = named(artifact);
  return model == nullptr ? std::nullopt : model->artifact.content();
}

int CompiledRoom::models_with(const std::string& content) const {
  return static_cast<int>(
      std::count_if(world_.models.begin(), world_.models.end(),
                    [&](const NamedModel& model) { return model.artifact.content() == content; }));
}

std::optional<wire::CompileKey> CompiledRoom::key_of(const std::string& artifact) const {
  const ModelHost* host = world_.host(artifact);
  if (host != nullptr && host->ready()) return host->ready()->compile_key;
  const auto ready = ready_.find(artifact);
  if (ready != ready_.end()) return ready->second.compile_key;
  return std::nullopt;
}

bool CompiledRoom::uses_device(const std::string& artifact) const {
  const auto ready = ready_.find(artifact);
  return ready != ready_.end() && !ready->second.devices.empty();
}

Compilations::State CompiledRoom::state(const Subject& subject) const {
  State state;
  const std::string& artifact = subject.artifact;
  const ModelHost* host = world_.host(artifact);
  const CompiledFile* file = keeps() ? store_.stored(artifact, key_of(artifact)) : nullptr;
  if (file != nullptr) state.stored = file->file.size;
  if (host != nullptr && host->ready()) state.possible = host->ready()->estimate.repacked;
  if (host != nullptr && host->level() == WeightsLevel::kResident && host->last_load()) {
    state.possible = host->last_load()->loaded.memory.repacked;
  }
  if (uses_device(artifact)) state.drivers = drivers_.last_size();
  state.cause = store_.cause(artifact);
  state.time = store_.time(artifact);
  state.note = store_.note(artifact);
  return state;
}

std::vector<std::string> CompiledRoom::files(const std::string& artifact) const {
  const CompiledFile* file = keeps() ? store_.stored(artifact, key_of(artifact)) : nullptr;
  if (file == nullptr) return {};
  return {file->path};
}

Task<Bytes> CompiledRoom::measure_drivers(Subject subject) {
  const ModelHost* host = world_.host(subject.artifact);
  if (host == nullptr || !host->ready() || host->ready()->devices.empty()) co_return Bytes{};
  co_return co_await drivers_.size();
}

// ---- when asked ----

Task<Result<>> CompiledRoom::build(Subject subject) {
  const auto pass = tasks_.enter();
  if (!pass) co_return fail(ErrorCode::kUnavailable, "the server is stopping");
  if (!keeps()) {
    co_return fail(ErrorCode::kUnsupported,
                   "nothing compiled is kept: compiled_disk_gib is 0, or layers_off names it");
  }
  if (!content(subject.artifact)) {
    const NamedModel* model = named(subject.artifact);
    std::string name = model == nullptr ? subject.model : model->name;
    Result<> hashed = co_await world_.hash(std::move(name));
    if (!hashed) co_return hashed;
  }
  std::string artifact = subject.artifact;
  co_return co_await builder_.build(std::move(artifact), StoreWish::kAsked);
}

Task<Result<Bytes>> CompiledRoom::drop(Subject subject) {
  const auto pass = tasks_.enter();
  if (!pass) co_return fail(ErrorCode::kUnavailable, "the server is stopping");
  const bool drivers_too = uses_device(subject.artifact);
  Result<Bytes> dropped = co_await store_.drop(std::move(subject.artifact));
  if (!dropped || !drivers_too) co_return dropped;
  const Bytes of_drivers = co_await drivers_.drop();
  co_return *dropped + of_drivers;
}

}  // namespace hearth::front
