// SPDX-License-Identifier: Apache-2.0
#include "front/levels/host_levels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace hearth::front {
namespace {

// Of a disk and of a start, where nothing was measured yet.
constexpr double kGuessedRate = 0.5e9;
constexpr std::chrono::seconds kGuessedStart{1};

Bytes own_memory(const wire::HeartbeatMessage& beat) { return beat.anonymous + beat.swapped; }

Duration read_time(Bytes bytes, double rate) {
  const std::chrono::duration<double> time{static_cast<double>(bytes.count()) / rate};
  return std::chrono::duration_cast<Duration>(time);
}

// Takes at most `most` out of what is left.
Bytes take(Bytes& left, Bytes most) {
  const Bytes taken = std::min(left, most);
  left = left - taken;
  return taken;
}

bool has_weights(const ModelHost& host) {
  return host.level() == WeightsLevel::kResident || host.level() == WeightsLevel::kLoading ||
         host.level() == WeightsLevel::kUnloading;
}

Bytes device_memory(const ModelHost& host) {
  const bool there =
      host.level() == WeightsLevel::kResident || host.level() == WeightsLevel::kUnloading;
  return there && host.last_load() ? host.last_load()->loaded.memory.device : Bytes{};
}

// What goes with the weights: of locked pages nothing does.
Bytes unpinned(const ModelHost& host, Bytes pinned) {
  const Bytes held = host.load_held();
  return held - std::min({held, pinned, host.heartbeat().mapped});
}

// The engine's account says what a worker's memory is for, the kernel's how much of it there is.
// `pinned`: of its pages, which the kernel cannot take back, whether or not a worker maps them.
void add_parts(const Model& model, Bytes pinned, std::vector<Held>& all) {
  const ModelHost& host = model.host();
  const std::string& artifact = model.named().artifact.id;
  const auto add = [&](HeldFor what, Bytes bytes) {
    if (bytes > Bytes{}) all.push_back({what, artifact, model.name(), bytes, false});
  };
  add(HeldFor::kPins, pinned);
  Bytes left = own_memory(host.heartbeat());
  if (!has_weights(host)) return add(HeldFor::kHollow, left);
  if (host.last_load()) {
    const wire::MemoryUse& use = host.last_load()->loaded.memory;
    const Bytes repacked = take(left, std::min(use.weights, use.repacked));
    add(HeldFor::kRepacked, repacked);
    add(HeldFor::kWeights, take(left, use.weights - repacked));
    add(HeldFor::kKv, take(left, use.context));
    add(HeldFor::kCompute, take(left, use.compute));
  }
  add(HeldFor::kOther, left);
  const Bytes mapped = host.heartbeat().mapped - std::min(host.heartbeat().mapped, pinned);
  if (mapped > Bytes{}) all.push_back({HeldFor::kWeights, artifact, model.name(), mapped, true});
}

}  // namespace

std::vector<Held> HostLevels::held() const {
  std::vector<Held> all;
  for (const Model* model : world_.models()) {
    add_parts(*model, world_.keeper.held(model->named().artifact.id), all);
  }
  if (world_.prefix != nullptr) {
    const Bytes prefixes = world_.prefix->room().figures().memory;
    if (prefixes > Bytes{}) all.push_back({HeldFor::kPrefix, "", "", prefixes, false});
  }
  return all;
}

std::vector<Held> HostLevels::held_on_devices() const {
  std::vector<Held> all;
  for (const Model* model : world_.models()) {
    const Bytes held = device_memory(model->host());
    if (held == Bytes{}) continue;
    all.push_back({HeldFor::kWeights, model->named().artifact.id, model->name(), held, false});
  }
  return all;
}

Bytes HostLevels::held_by_load(const std::string& artifact) const {
  const Model* model = world_.find(artifact);
  if (model == nullptr || !has_weights(model->host())) return {};
  return unpinned(model->host(), world_.keeper.held(artifact));
}

// ---- what could go ----

std::vector<Holding> HostLevels::holdings(LevelRoom::World::Busy busy) const {
  std::vector<Holding> all;
  for (const Model* model : world_.models()) {
    for (std::optional<Holding>& one :
         std::array{weights_of(*model, busy), device_of(*model, busy), worker_of(*model),
                    prefixes_of(*model), pins_of(*model)}) {
      if (one) all.push_back(std::move(*one));
    }
  }
  return all;
}

Holding HostLevels::holding_of(const Model& model, HoldingKind kind, Bytes held) const {
  Holding holding;
  holding.subject = model.named().artifact.id;
  holding.kind = kind;
  holding.held = held;
  // Each step of priority counts as twice as many requests.
  const int priority = world_.priority(holding.subject);
  holding.arrivals_per_hour = world_.arrivals_per_hour(model) * std::exp2(priority);
  return holding;
}

// Somebody's pin on this layer, or a promise.
void HostLevels::add_floor(Holding& holding, std::string_view layer) const {
  holding.floor_reason = world_.pinned(holding.subject, layer)
                             ? FloorReason::kPin
                             : world_.floor(holding.subject, holding.kind);
  if (holding.floor_reason != FloorReason::kNone) holding.floor = holding.held;
}

std::optional<Holding> HostLevels::weights_of(const Model& model,
                                              LevelRoom::World::Busy busy) const {
  const ModelHost& host = model.host();
  if (!has_weights(host)) return std::nullopt;
  const Artifact& artifact = model.named().artifact;
  Holding holding =
      holding_of(model, HoldingKind::kWeights, unpinned(host, world_.keeper.held(artifact.id)));
  holding.to_restore = model.starts().load_time(artifact).value_or(
      read_time(artifact.size(), kGuessedRate) + kGuessedStart);
  add_floor(holding, "weights");
  // On its way in or out: it comes free, or stays, without a move of ours.
  const bool moves = host.level() != WeightsLevel::kResident;
  const bool yields = busy == LevelRoom::World::Busy::kYielding && host.has_served_its_turn();
  holding.busy = moves || (host.is_busy() && !yields);
  return holding;
}

// Goes with the weights, and is worth what they are.
std::optional<Holding> HostLevels::device_of(const Model& model,
                                             LevelRoom::World::Busy busy) const {
  std::optional<Holding> holding = weights_of(model, busy);
  const Bytes held = device_memory(model.host());
  if (!holding || held == Bytes{}) return std::nullopt;
  holding->kind = HoldingKind::kDeviceWeights;
  holding->device = 0;
  holding->held = held;
  if (holding->floor > Bytes{}) holding->floor = held;
  return holding;
}

std::optional<Holding> HostLevels::worker_of(const Model& model) const {
  const std::optional<HollowWorker> worker = model.hollow_worker();
  if (!worker || worker->own == Bytes{}) return std::nullopt;
  Holding holding = holding_of(model, HoldingKind::kHollowWorker, worker->own);
  holding.to_restore = worker->spawn;
  add_floor(holding, "worker");  // nobody pins one, but a promise may need it
  return holding;
}

std::optional<Holding> HostLevels::prefixes_of(const Model& model) const {
  if (world_.prefix == nullptr) return std::nullopt;
  const std::string& artifact = model.named().artifact.id;
  const Bytes memory = world_.prefix->amount(artifact).memory;
  if (memory == Bytes{}) return std::nullopt;
  Holding holding = holding_of(model, HoldingKind::kPrefixBlocks, memory);
  const double rate = world_.prefix->room().figures().restore_disk_rate;
  holding.to_restore = read_time(memory, rate > 0 ? rate : kGuessedRate);
  return holding;
}

std::optional<Holding> HostLevels::pins_of(const Model& model) const {
  const std::string& artifact = model.named().artifact.id;
  const Bytes pinned = world_.keeper.held(artifact);
  if (pinned == Bytes{}) return std::nullopt;
  Holding holding = holding_of(model, HoldingKind::kPinnedPages, pinned);
  holding.to_restore = read_time(pinned, kGuessedRate);
  add_floor(holding, "pages");
  return holding;
}

// ---- moves ----

Task<Result<Bytes>> HostLevels::make(Move move) {
  switch (move.what) {
    case Move::What::kWeights:
      co_return co_await give_back_weights(std::move(move));
    case Move::What::kWorker:
      co_return co_await end_worker(std::move(move.artifact));
    case Move::What::kPrefixes:
      if (world_.prefix == nullptr) co_return Bytes{};
      co_return co_await world_.prefix->spill(std::move(move.artifact));
    case Move::What::kPages: {
      const Bytes held = world_.keeper.held(move.artifact);
      world_.keeper.forget(move.artifact);
      co_return held;
    }
  }
  co_return Bytes{};
}

Task<Result<Bytes>> HostLevels::give_back_weights(Move move) {
  Model* model = world_.find(move.artifact);
  if (model == nullptr) co_return fail(ErrorCode::kConflict, "the model went");
  const Bytes before = held_by_load(move.artifact);
  ModelHost::Check loose = [this, move]() -> Result<> {
    if (move.wanted && !move.wanted()) {
      return fail(ErrorCode::kCancelled, "whoever it was for has left");
    }
    if (!world_.pinned(move.artifact, "weights")) return {};
    return fail(ErrorCode::kConflict, "its weights were pinned meanwhile");
  };
  const Result<> given = co_await model->host().unload(WeightsCause::kEvictedFor, std::move(loose));
  if (!given) co_return Failed{given.error()};
  // The kernel may have taken all that could be taken before.
  co_return std::max(before, Bytes{1});
}

Task<Result<Bytes>> HostLevels::end_worker(std::string artifact) {
  Model* model = world_.find(artifact);
  const std::optional<HollowWorker> worker =
      model == nullptr ? std::nullopt : model->hollow_worker();
  if (!worker) co_return fail(ErrorCode::kConflict, "somebody uses the worker now");
  co_await model->host().end_hollow();
  co_return worker->own;
}

}  // namespace hearth::front
