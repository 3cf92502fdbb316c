// SPDX-License-Identifier: Apache-2.0
#include "layers/weights/weights_layer.h"

#include <array>

namespace hearth {

std::string_view name_of(WorkerLevel level) {
  constexpr std::array<std::string_view, 4> kNames{"none", "hollow", "loading", "resident"};
  return kNames[static_cast<std::size_t>(level)];
}

std::string_view code_of(WeightsCause cause) {
  constexpr std::array<std::string_view, 6> kCodes{"weights.first_use",   "weights.idle",
                                                   "weights.asked",       "weights.evicted_for",
                                                   "weights.worker_died", "weights.options"};
  return kCodes[static_cast<std::size_t>(cause)];
}

const WeightsLayer::Known* WeightsLayer::known(const Subject& subject) const {
  const auto artifact = known_.find(subject.artifact);
  if (artifact == known_.end()) return nullptr;
  const auto options = artifact->second.find(subject.options);
  return options == artifact->second.end() ? nullptr : &options->second;
}

void WeightsLayer::note_given_back(const Subject& subject, WeightsCause cause) {
  known_[subject.artifact][subject.options].cause = cause;
}

void WeightsLayer::note_loaded(const Subject& subject, Duration length) {
  Known& known = known_[subject.artifact][subject.options];
  known.load = length;
  if (const auto worker = workers_.state(subject)) known.size = worker->memory.weights;
}

WeightsCause WeightsLayer::cause(const Subject& subject) const {
  if (const Known* last = known(subject)) return last->cause;
  return known_.contains(subject.artifact) ? WeightsCause::kOptions : WeightsCause::kFirstUse;
}

LayerState WeightsLayer::observe(const Subject& subject) const {
  LayerState state;
  state.layer = LayerKind::kWeights;
  const WorkerState worker = workers_.state(subject).value_or(WorkerState{});
  state.level = name_of(worker.level);
  if (const Known* last = known(subject)) state.total = last->size;
  if (worker.level == WorkerLevel::kLoading) state.fraction = worker.loading_fraction;
  if (worker.level == WorkerLevel::kResident) {
    state.fraction = 1;
    state.bytes = state.total = worker.memory.weights;
  }
  return state;
}

Estimate WeightsLayer::cost_to_warm(const Subject& subject) const {
  const LayerState state = observe(subject);
  Estimate estimate;
  estimate.bytes = state.total - state.bytes;
  if (state.level == "resident") {
    estimate.known = true;
    return estimate;
  }
  const Known* last = known(subject);
  if (last == nullptr || !last->load) return estimate;
  const auto whole = static_cast<double>(last->load->count());
  estimate.time = Duration{static_cast<Duration::rep>(whole * (1 - state.fraction))};
  estimate.known = true;
  return estimate;
}

Task<Result<LayerState>> WeightsLayer::warm(Subject subject, Target, Progress& progress) {
  if (observe(subject).level == "resident") co_return observe(subject);
  const bool joins = observe(subject).level == "loading";
  const TimePoint begin = clock_.now();
  Result<> loaded = co_await workers_.load(subject, progress);
  if (!loaded) co_return Failed{std::move(loaded).error()};
  if (!joins) note_loaded(subject, clock_.now() - begin);
  co_return observe(subject);
}

Task<Result<Bytes>> WeightsLayer::cool(Subject subject, Target) {
  const std::string level = observe(subject).level;
  if (level == "none" || level == "hollow") co_return Bytes{};
  Result<Bytes> gone = co_await workers_.unload(subject);
  if (gone) note_given_back(subject, WeightsCause::kAsked);
  co_return gone;
}

}  // namespace hearth
