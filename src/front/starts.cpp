// SPDX-License-Identifier: Apache-2.0
#include "front/starts.h"

#include <algorithm>

namespace hearth::front {
namespace {

using Seat = StartState::Worker;
using Repack = StartState::Repack;

// Before so much of a load is done, its progress says little.
constexpr double kTellingShare = 0.02;
// Of models whose file does not say how many layers they have.
constexpr int kLayersGuess = 16;

Seat worker_of(WeightsLevel level) {
  switch (level) {
    case WeightsLevel::kNone:
      return Seat::kNone;
    case WeightsLevel::kHollow:
    case WeightsLevel::kUnloading:
      return Seat::kHollow;
    case WeightsLevel::kLoading:
      return Seat::kLoading;
    case WeightsLevel::kResident:
      return Seat::kResident;
  }
  return Seat::kNone;
}

Duration time_in(const std::vector<Stage>& stages, StageKind kind) {
  Duration sum{};
  for (const Stage& stage : stages) {
    if (stage.kind == kind) sum += stage.length();
  }
  return sum;
}

}  // namespace

StartState untouched_state(const Artifact& artifact) {
  StartState state;
  state.weights = artifact.size();
  state.load_set = size_of(artifact.load_set());
  return state;
}

// ---- as things are ----

int Starts::layers(const Artifact& artifact) const {
  if (!host_.ready() || !host_.ready()->streams) return 1;
  const auto blocks = static_cast<int>(artifact.facts.block_count);
  return blocks > 0 ? blocks : kLayersGuess;
}

void Starts::add_pages(StartState& state, const Artifact& artifact) const {
  const PagesLayer& pages = world_.layers.pages();
  const Subject subject{artifact.id, host_.model().name, ""};
  const PageSnapshot* snapshot = pages.snapshot(artifact.id);
  state.pages_known = snapshot != nullptr;
  if (snapshot != nullptr) state.load_set = snapshot->residency.total;
  const Estimate cost = pages.cost_to_warm(subject);
  state.missing = cost.bytes;
  const double seconds = milliseconds_of(cost.time) / 1000;
  if (cost.known && seconds > 0) {
    state.read_bytes_per_s = static_cast<double>(cost.bytes.count()) / seconds;
  }
}

StartState Starts::state(const Artifact& artifact) const {
  StartState state = untouched_state(artifact);
  state.worker = worker_of(host_.level());
  add_pages(state, artifact);
  state.layers = layers(artifact);
  state.beside = host_.attached();
  if (const auto& ready = host_.ready()) {
    state.vocabulary = ready->vocabulary;
    state.context = ready->estimate.context + ready->estimate.compute;
    state.repacked = ready->estimate.repacked;
  }
  if (state.repacked > Bytes{}) {
    const Subject subject{artifact.id, host_.model().name, ""};
    const LayerSnapshot compiled = world_.layers.snapshot(LayerKind::kCompiled, subject);
    state.repack = compiled.level == "stored" ? Repack::kStored : Repack::kBuild;
  }
  if (state.worker == Seat::kLoading) state.load_left = load_left();
  return state;
}

// What was forecast, corrected by how far it has got meanwhile, which counts for more the farther
// that is.
Duration Starts::load_left() const {
  if (!load_forecast_) return {};
  const Duration forecast = load_forecast_->alone(0).time;
  const Duration elapsed = world_.loop.now() - load_begun_;
  const double done = host_.load_fraction();
  if (done < kTellingShare) return std::max(forecast - elapsed, forecast / 5);
  const double whole =
      (1 - done) * static_cast<double>(forecast.count()) + static_cast<double>(elapsed.count());
  return Duration{static_cast<std::int64_t>((1 - done) * whole)};
}

std::optional<Duration> Starts::time_to_place() const {
  const std::optional<Duration> service = world_.predictor.service(host_.model().artifact);
  if (!service) return std::nullopt;
  return *service / std::max(1, world_.places);
}

Duration Starts::ahead() const {
  const Admission& admission = host_.admission();
  const int before = admission.waiting() + std::max(0, admission.active() - world_.places + 1);
  if (before == 0) return {};
  return before * time_to_place().value_or(Duration::zero());
}

Outlook Starts::outlook(const Artifact& artifact) const {
  Outlook outlook = world_.predictor.outlook(artifact.id, state(artifact));
  outlook.ahead = ahead();
  return outlook;
}

Outlook Starts::outlook_at(const Artifact& artifact, Stand stand) const {
  StartState there = state(artifact);
  there.worker = stand == Stand::kResident ? Seat::kResident : Seat::kHollow;
  there.pages_known = true;
  there.missing = stand == Stand::kCold ? there.load_set : Bytes{};
  there.beside = 0;
  return world_.predictor.outlook(artifact.id, there);
}

Duration Starts::cold_time(const Artifact& artifact) const {
  const Duration cold = outlook_at(artifact, Stand::kCold).alone(1).time;
  return std::max(Duration::zero(), cold - outlook_at(artifact, Stand::kResident).alone(1).time);
}

std::optional<Duration> Starts::load_time(const Artifact& artifact) const {
  StartState from_pages = state(artifact);
  from_pages.worker = Seat::kHollow;
  from_pages.pages_known = true;
  from_pages.missing = Bytes{};
  const Outlook outlook = world_.predictor.outlook(artifact.id, from_pages);
  if (!outlook.known) return std::nullopt;
  return outlook.alone(0).time;
}

std::optional<Duration> Starts::repack_time() const {
  const std::optional<double> rate = world_.predictor.repack_rate();
  if (!rate || *rate <= 0 || !host_.ready()) return std::nullopt;
  const auto bytes = static_cast<double>(host_.ready()->estimate.repacked.count());
  return Duration{static_cast<std::int64_t>(bytes / *rate * 1e9)};
}

// ---- what came ----

void Starts::note_host(const Artifact& artifact) {
  if (host_.has_worker() && host_.spawns() != spawns_seen_ && !host_.spawn_stages().empty()) {
    spawns_seen_ = host_.spawns();
    world_.predictor.note_spawn(artifact.id, host_.ready()->vocabulary,
                                host_.spawn_stages().front().length());
  }
  const bool loading = host_.level() == WeightsLevel::kLoading;
  if (loading && !loading_seen_) {
    load_begun_ = world_.loop.now();
    StartState before = state(artifact);
    before.worker = Seat::kHollow;
    load_forecast_ = world_.predictor.outlook(artifact.id, before);
  }
  loading_seen_ = loading;
}

void Starts::note_load(const LoadRecord& load) {
  if (load.loaded.repack == "built") {
    world_.predictor.note_repack(load.loaded.memory.repacked,
                                 time_in(load.loaded.stages, StageKind::kCompile));
  }
  // One that a request began is looked at with that request.
  if (load.request == 0 && load_forecast_) note_loaded(*load_forecast_, load.length);
}

void Starts::note_prefill(const Artifact& artifact, const wire::StartedMessage& started) {
  const Duration length = time_in(started.stages, StageKind::kPrefill);
  const int fresh = started.prompt_tokens - started.cached_tokens;
  // Prompts that are evaluated beside others say nothing about one alone, nor do those that
  // waited for weights on their way.
  if (fresh < 1 || length <= Duration::zero() || host_.attached() > 1) return;
  const auto begun = std::ranges::find(started.stages, StageKind::kPrefill, &Stage::kind)->start;
  if (host_.last_load()) {
    const std::vector<Stage>& load = host_.last_load()->loaded.stages;
    if (std::ranges::any_of(load, [&](const Stage& one) { return one.end > begun; })) return;
  }
  world_.predictor.note_prefill(artifact.id, artifact.size(),
                                {fresh, milliseconds_of(length) / 1000});
}

void Starts::note_first_token(const Outlook& forecast, int fresh_tokens, Duration time) {
  if (fresh_tokens < 1 || time <= Duration::zero()) return;
  const double error = world_.predictor.note_start(forecast, fresh_tokens, time);
  world_.metrics.forecast_met(name_of(forecast.start_class), error);
}

void Starts::note_loaded(const Outlook& forecast, Duration time) {
  world_.predictor.note_start(forecast, 0, time);
}

void Starts::note_service(Duration time) {
  world_.predictor.note_service(host_.model().artifact, time);
}

}  // namespace hearth::front
