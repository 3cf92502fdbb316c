// SPDX-License-Identifier: Apache-2.0
#include "policy/household/levels.h"

#include <algorithm>

namespace hearth::household {
namespace {

// Monday, 0:00.
constexpr std::int64_t kMonday = 345'600;
constexpr Duration kLook = std::chrono::minutes{1};

Instant instant_of(Duration now) {
  return {now, kMonday + std::chrono::duration_cast<std::chrono::seconds>(now).count()};
}

Duration time_to_read(const House& house, Bytes bytes) {
  const double seconds = static_cast<double>(bytes.count()) / house.machine.read_bytes_per_s;
  return Duration{static_cast<std::int64_t>(seconds * 1e9)};
}

}  // namespace

Levels::Levels(const Trace& trace, Prediction prediction, PrewarmRules rules)
    : prediction_{prediction}, arrivals_(trace.models.size()), prewarmer_{rules} {
  for (const TraceModel& model : trace.models) names_.push_back(model.name);
}

std::string_view Levels::name() const {
  return prediction_ == Prediction::kOn ? "hearth" : "hearth-unpredicted";
}

void Levels::watch(const House& house) {
  for (ArrivalModel& model : arrivals_) model.observe(instant_of(house.now));
}

void Levels::arrived(const House& house, std::size_t model) {
  arrivals_[model].note(instant_of(house.now));
  prewarmer_.note_used(names_[model], 1 / house.machine.read_bytes_per_s, house.now);
}

double Levels::rate(const House& house, std::size_t model) const {
  const Instant now = instant_of(house.now);
  const Duration horizon = prewarmer_.rules().horizon;
  if (prediction_ == Prediction::kOff) return arrivals_[model].steady_per_hour(now, horizon);
  return arrivals_[model].expected_per_hour(now, horizon);
}

std::vector<Holding> Levels::holdings(const House& house) const {
  std::vector<Holding> held;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    Holding& one = held.emplace_back();
    one.subject = names_[i];
    one.held = house.models[i].resident;
    one.step = Bytes{1};
    one.to_restore = time_to_read(house, one.held);
    one.arrivals_per_hour = rate(house, i);
    one.busy = house.busy(i);
  }
  return held;
}

std::optional<std::vector<Release>> Levels::make_room(const House& house, std::size_t model) {
  const std::vector<Holding> held = holdings(house);
  const auto plan =
      plan_to_free({house.missing(model), house.free(), kHostMemory, names_[model]}, held);
  if (!plan) return std::nullopt;
  std::vector<Release> releases;
  for (const PlannedMove& move : plan->moves) releases.push_back({move.holding, move.freed});
  note_releases(house, releases);
  prewarmer_.note_demand(house.missing(model));
  return releases;
}

std::optional<Duration> Levels::wake(const House&) const { return next_look_; }

std::vector<PrewarmCandidate> Levels::candidates(const House& house) const {
  std::vector<PrewarmCandidate> candidates;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    PrewarmCandidate& one = candidates.emplace_back();
    one.model = names_[i];
    one.size = house.models[i].size;
    one.resident = house.models[i].resident;
    one.probability = arrivals_[i].probability(instant_of(house.now), prewarmer_.rules().horizon);
    one.cold = time_to_read(house, one.size);
    one.busy = house.busy(i);
  }
  return candidates;
}

Action Levels::act(const House& house) {
  watch(house);
  next_look_ = house.now + kLook;
  if (prediction_ == Prediction::kOff) return {};
  const auto step =
      prewarmer_.next(candidates(house), house.free(), house.machine.read_bytes_per_s, house.now);
  if (!step) return {};
  next_look_ = house.now;
  Action action;
  action.model = index_of(step->model);
  action.read = step->bytes;
  for (const PrewarmStep::Release& release : step->releases) {
    action.releases.push_back({index_of(release.model), release.bytes});
  }
  note_releases(house, action.releases);
  return action;
}

void Levels::has_read(const House& house, std::size_t model, Bytes bytes) {
  prewarmer_.note_read(names_[model], bytes, house.now);
}

void Levels::note_releases(const House& house, const std::vector<Release>& releases) {
  for (const Release& release : releases) {
    const House::Model& model = house.models[release.model];
    prewarmer_.note_resident(names_[release.model], model.resident - release.bytes, model.size,
                             house.now);
  }
}

std::size_t Levels::index_of(const std::string& model) const {
  return static_cast<std::size_t>(std::ranges::find(names_, model) - names_.begin());
}

}  // namespace hearth::household
