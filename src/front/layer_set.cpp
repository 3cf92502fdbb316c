// SPDX-License-Identifier: Apache-2.0
#include "front/layer_set.h"

#include <array>
#include <utility>

#include "layers/pages/memory_room.h"

namespace hearth::front {
namespace {

const bool kNeverCancelled = false;

WorkerLevel worker_level(WeightsLevel level) {
  switch (level) {
    case WeightsLevel::kNone:
      return WorkerLevel::kNone;
    case WeightsLevel::kHollow:
      return WorkerLevel::kHollow;
    case WeightsLevel::kLoading:
      return WorkerLevel::kLoading;
    case WeightsLevel::kResident:
    case WeightsLevel::kUnloading:  // until the worker says that they are gone
      return WorkerLevel::kResident;
  }
  return WorkerLevel::kNone;
}

PagesLayer::World pages_world(const LayerSet::World& world) {
  auto mapped = [host = world.host](const std::string& artifact) {
    const ModelHost* found = host(artifact);
    return found != nullptr && worker_level(found->level()) >= WorkerLevel::kLoading;
  };
  auto room = [&files = world.files] { return memory_room(files); };
  return {world.loop,        world.pool,         world.files,     world.clock,     world.load_set,
          std::move(mapped), world.pinned_pages, std::move(room), world.read_guide};
}

}  // namespace

std::optional<WorkerState> HostWorkers::state(const Subject& subject) const {
  const ModelHost* host = find_(subject.artifact);
  if (host == nullptr || !host->has_worker()) return std::nullopt;
  WorkerState state;
  state.level = worker_level(host->level());
  state.loading_fraction = host->load_fraction();
  if (const auto started = host->worker_started()) state.uptime = loop_.now() - *started;
  state.live_tokens = host->live_tokens();
  if (state.level == WorkerLevel::kResident && host->last_load()) {
    const wire::MemoryUse& memory = host->last_load()->loaded.memory;
    state.memory = {memory.weights + memory.mapped, memory.repacked, memory.context,
                    memory.compute};
  }
  return state;
}

Task<Result<>> HostWorkers::load(Subject subject, hearth::Progress&) {
  ModelHost* host = find_(subject.artifact);
  if (host == nullptr) co_return fail(ErrorCode::kNotFound, "no such model");
  co_return co_await host->ensure_resident(&kNeverCancelled);
}

Task<Result<Bytes>> HostWorkers::unload(Subject subject) {
  ModelHost* host = find_(subject.artifact);
  if (host == nullptr) co_return Bytes{};
  const auto before = state(subject);
  Result<> done = co_await host->unload(WeightsCause::kAsked);
  if (!done) co_return Failed{std::move(done).error()};
  co_return before ? before->memory.weights + before->memory.kv + before->memory.compute : Bytes{};
}

LayerSet::LayerSet(World world)
    : workers_{world.loop, world.host},
      pages_{pages_world(world)},
      weights_{workers_, world.clock},
      compiled_{workers_, *world.compilations},
      prefix_{workers_, *world.prefixes} {}

Layer& LayerSet::of(LayerKind kind) { return const_cast<Layer&>(std::as_const(*this).of(kind)); }

const Layer& LayerSet::of(LayerKind kind) const {
  const std::array<const Layer*, 5> layers{&artifact_, &pages_, &weights_, &compiled_, &prefix_};
  return *layers[static_cast<std::size_t>(kind)];
}

LayerSnapshot LayerSet::snapshot(LayerKind kind, const Subject& subject) const {
  const LayerState state = of(kind).observe(subject);
  return {std::string{name_of(kind)},
          state.level,
          state.fraction,
          state.bytes,
          state.total,
          state.detail};
}

}  // namespace hearth::front
