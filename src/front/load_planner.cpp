// SPDX-License-Identifier: Apache-2.0
#include "front/load_planner.h"

#include <algorithm>
#include <utility>

namespace hearth::front {
namespace {

using namespace literals;

// Never filled: other programs live here too.
constexpr Bytes kMostReserve = 256_MiB;
constexpr std::chrono::seconds kMostPatience = std::chrono::hours{24};

wire::ReadMode mode_of(ReadWay way) {
  switch (way) {
    case ReadWay::kMapped:
      return wire::ReadMode::kMapped;
    case ReadWay::kBuffered:
      return wire::ReadMode::kBuffered;
    case ReadWay::kDirect:
      return wire::ReadMode::kDirect;
  }
  return wire::ReadMode::kMapped;
}

// What a load takes that is no page of its files.
Bytes own_memory(const wire::MemoryUse& use, const LoadPlan& plan) {
  const Bytes weights = plan.stored ? use.weights - use.repacked : use.weights;
  return weights + use.context + use.compute - use.device;
}

}  // namespace

ReadNeed::Fit fit_of(const Survey& survey, Bytes pinned, Bytes besides) {
  if (!survey.room) return ReadNeed::Fit::kFits;
  const Bytes reserve = std::min(Bytes{survey.room->count() / 20}, kMostReserve);
  const Bytes wanted = survey.total() - pinned + besides;
  return wanted > *survey.room - reserve ? ReadNeed::Fit::kTooLarge : ReadNeed::Fit::kFits;
}

Task<LoadPlan> DiskLoadPlanner::plan(std::string artifact, wire::ReadyMessage ready) {
  LoadPlan plan;
  if (world_.patience) {
    const auto patience = std::clamp(world_.patience(), std::chrono::seconds{1}, kMostPatience);
    // The worker's own failure names the cause, and costs no worker: it comes before the kill.
    plan.message.stall_seconds = std::max(1, static_cast<int>(patience.count() * 3 / 4));
  }
  if (world_.stored) {
    std::string id = artifact;
    wire::CompileKey key = ready.compile_key;
    StoredRepack stored = co_await world_.stored(std::move(id), std::move(key));
    plan.message.stored = stored.file.has_value();
    plan.message.check_stored = stored.check;
    plan.message.content = std::move(stored.content);
    plan.stored = std::move(stored.file);
  }
  const Bytes besides = own_memory(ready.estimate, plan);
  co_await plan_reading(std::move(artifact), besides, plan);
  co_return plan;
}

Task<void> DiskLoadPlanner::plan_reading(std::string artifact, Bytes besides, LoadPlan& plan) {
  std::optional<LoadSet> load_set = world_.load_set(artifact);
  if (!load_set) co_return;
  DiskScheduler::Claim claim;
  Devices::Entered entered = co_await world_.devices.enter(std::move(*load_set), std::move(claim));
  plan.ticket = std::move(entered.tickets);
  plan.waited = entered.waited;
  if (!entered.survey) co_return;
  const Bytes pinned = world_.pinned ? world_.pinned(artifact) : Bytes{};
  const ReadChoice choice = world_.devices.choose(
      *entered.survey, fit_of(*entered.survey, pinned, besides), ReadNeed::Purpose::kLoad);
  plan.message.read = mode_of(choice.style.way);
  plan.message.readers = choice.style.readers;
  plan.message.block = choice.style.block;
  planned_[artifact] = Planned{Devices::single_source(*entered.survey), choice.style};
}

void DiskLoadPlanner::note_loaded(const std::string& artifact, const wire::LoadedMessage& loaded) {
  const auto planned = planned_.find(artifact);
  if (planned == planned_.end()) return;
  const Planned made = std::move(planned->second);
  planned_.erase(planned);
  if (loaded.repack == "built") return;  // its reads waited for the repacking
  Bytes bytes;
  Duration time{};
  for (const Stage& stage : loaded.stages) {
    if (stage.kind != StageKind::kRead) continue;
    bytes += stage.bytes;
    time += stage.length();
  }
  world_.devices.note_read(made.device, made.style, bytes, time);
}

}  // namespace hearth::front
