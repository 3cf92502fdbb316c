// SPDX-License-Identifier: Apache-2.0
#include "policy/household/replay.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <queue>
#include <utility>

namespace hearth::household {
namespace {

constexpr double kGb = 1e9;
constexpr double kGbHour = kGb * 3.6e12;  // bytes x nanoseconds

double count_of(Bytes bytes) { return static_cast<double>(bytes.count()); }
double seconds_of(Duration time) { return milliseconds_of(time) / 1000; }

class Replay {
 public:
  Replay(const Trace& trace, const Machine& machine, Strategy& strategy)
      : trace_{trace}, strategy_{strategy} {
    house_.machine = machine;
    for (const TraceModel& model : trace.models) house_.models.push_back({.size = model.size});
    if (hollow()) {
      house_.workers = Bytes{machine.hollow.count() * trace.models.size()};
    }
    score_.strategy = strategy.name();
    score_.cold_seconds_of.resize(trace.models.size());
  }

  Score run() {
    for (std::size_t i = 0; i < trace_.requests.size(); ++i) {
      events_.push({trace_.requests[i].at, i});
    }
    while (!events_.empty()) {
      const Event event = events_.top();
      let_strategy_act(event.at);
      advance(event.at);
      events_.pop();
      serve(event);
    }
    finish();
    return std::move(score_);
  }

 private:
  struct Event {
    Duration at;
    std::size_t request;
    bool operator<(const Event& other) const {  // the first on top
      return std::pair{at, request} > std::pair{other.at, other.request};
    }
  };

  bool hollow() const { return strategy_.waiting() == Strategy::Waiting::kHollow; }

  void advance(Duration to) {
    if (to <= house_.now) return;
    const double passed = static_cast<double>((to - house_.now).count());
    score_.held_gb_hours += count_of(house_.held()) * passed / kGbHour;
    if (hollow()) {
      score_.kept_gb_hours += count_of(house_.workers) * passed / kGbHour;
    }
    for (const House::Model& model : house_.models) {
      const Duration in_use = std::clamp(model.busy_until, house_.now, to) - house_.now;
      const double kept = hollow() ? static_cast<double>(in_use.count()) : passed;
      score_.kept_gb_hours += count_of(model.resident) * kept / kGbHour;
    }
    house_.now = to;
  }

  // Between requests, and while the device is idle.
  void let_strategy_act(Duration until) {
    while (const std::optional<Duration> wake = strategy_.wake(house_)) {
      const Duration at = std::max({*wake, house_.now, device_free_});
      if (at >= until) return;
      advance(at);
      const Action action = strategy_.act(house_);
      release(action.releases);
      if (action.read > Bytes{}) read_ahead(action, until);
    }
  }

  void read_ahead(const Action& action, Duration until) {
    const double rate = house_.machine.read_bytes_per_s;
    const double most = seconds_of(until - house_.now) * rate;
    const Bytes room = std::min(house_.free(), house_.missing(action.model));
    const Bytes wanted = std::min(action.read, room);
    const Bytes read{static_cast<std::uint64_t>(std::min(count_of(wanted), std::floor(most)))};
    const auto took = static_cast<std::int64_t>(std::ceil(count_of(read) / rate * 1e9));
    advance(read < wanted ? until : std::min(until, house_.now + Duration{took}));
    house_.models[action.model].resident += read;
    score_.prewarm_gb += count_of(read) / kGb;
    strategy_.has_read(house_, action.model, read);
  }

  void release(const std::vector<Release>& releases) {
    for (const Release& one : releases) {
      House::Model& model = house_.models[one.model];
      if (!house_.busy(one.model)) model.resident = model.resident - one.bytes;
    }
  }

  void serve(const Event& event) {
    const TraceRequest& request = trace_.requests[event.request];
    House::Model& model = house_.models[request.model];
    if (event.at == request.at) strategy_.arrived(house_, request.model);
    if (model.size + house_.workers > house_.machine.memory) {
      ++score_.refused;
      return;
    }
    if (house_.missing(request.model) > Bytes{} && !load(request.model)) {
      wait_for_others(event);
      return;
    }
    const Duration ready = std::max(house_.now, model.loaded_at);
    model.used = true;
    model.used_at = std::max(model.used_at, ready);
    model.busy_until = std::max(model.busy_until, ready + request.service);
    waits_.push_back(seconds_of(ready - request.at));
  }

  bool load(std::size_t index) {
    const auto releases = strategy_.make_room(house_, index);
    if (!releases) return false;
    release(*releases);
    const Bytes missing = house_.missing(index);
    if (missing > house_.free()) return false;
    const double read_s = count_of(missing) / house_.machine.read_bytes_per_s;
    const Duration read{static_cast<std::int64_t>(std::ceil(read_s * 1e9))};
    const Duration setup = hollow() ? Duration{} : house_.machine.setup;
    device_free_ = std::max(device_free_, house_.now) + read;
    House::Model& model = house_.models[index];
    model.loaded_at = device_free_ + setup;
    model.busy_until = model.loaded_at;
    model.resident = model.size;
    ++score_.cold_starts;
    score_.cold_seconds += seconds_of(read + setup);
    score_.cold_seconds_of[index] += seconds_of(read + setup);
    score_.demand_gb += count_of(missing) / kGb;
    return true;
  }

  // Until the first of the busy ends. One that fits an empty memory finds room when all have.
  void wait_for_others(const Event& event) {
    std::optional<Duration> first;
    for (std::size_t i = 0; i < house_.models.size(); ++i) {
      if (!house_.busy(i)) continue;
      const Duration ends = house_.models[i].busy_until;
      first = first ? std::min(*first, ends) : ends;
    }
    if (!first) {
      ++score_.refused;
      return;
    }
    events_.push({*first, event.request});
  }

  void finish() {
    Duration end = house_.now;
    for (const House::Model& model : house_.models) end = std::max(end, model.busy_until);
    advance(end);
    std::ranges::sort(waits_);
    if (waits_.empty()) return;
    const auto rank =
        static_cast<std::size_t>(std::ceil(0.99 * static_cast<double>(waits_.size())));
    score_.p99_wait_s = waits_[rank - 1];
  }

  const Trace& trace_;
  Strategy& strategy_;
  House house_;
  Score score_;
  std::priority_queue<Event> events_;
  Duration device_free_{};  // from demand
  std::vector<double> waits_;
};

}  // namespace

Score replay(const Trace& trace, const Machine& machine, Strategy& strategy) {
  return Replay{trace, machine, strategy}.run();
}

}  // namespace hearth::household
