// SPDX-License-Identifier: Apache-2.0
#include "policy/household/peers.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "policy/household/whole_models.h"

namespace hearth::household {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

double count_of(Bytes bytes) { return static_cast<double>(bytes.count()); }

// Unloads each model some time after its last use.
class Timers : public WholeModels {
 public:
  using WholeModels::WholeModels;

  std::optional<Duration> wake(const House& house) const override {
    std::optional<Duration> first;
    for (std::size_t i = 0; i < house.models.size(); ++i) {
      if (house.models[i].resident == Bytes{}) continue;
      const Duration ends = expires(house, i);
      first = first ? std::min(*first, ends) : ends;
    }
    return first;
  }

  Action act(const House& house) override {
    Action action;
    for (std::size_t i = 0; i < house.models.size(); ++i) {
      const Bytes resident = house.models[i].resident;
      if (resident > Bytes{} && expires(house, i) <= house.now) {
        action.releases.push_back({i, resident});
      }
    }
    return action;
  }

 protected:
  virtual Duration time_to_live(std::size_t model) const = 0;

 private:
  Duration expires(const House& house, std::size_t model) const {
    return house.models[model].busy_until + std::max(Duration{1}, time_to_live(model));
  }
};

class FixedTimer : public Timers {
 public:
  FixedTimer(std::string_view name, Duration ttl) : Timers{name}, ttl_{ttl} {}

 protected:
  Duration time_to_live(std::size_t) const override { return ttl_; }

 private:
  Duration ttl_;
};

class Histogram : public Timers {
 public:
  explicit Histogram(std::size_t models) : Timers{"histogram"}, seen_(models) {}

  void arrived(const House& house, std::size_t model) override {
    Seen& seen = seen_[model];
    if (seen.any) {
      const double pause = milliseconds_of(house.now - seen.last) / 60'000;
      if (pause < kLongest) seen.pauses.push_back(pause);
    }
    seen.any = true;
    seen.last = house.now;
  }

 protected:
  Duration time_to_live(std::size_t model) const override {
    std::vector<double> pauses = seen_[model].pauses;
    if (pauses.size() < 2) return hours{2};
    const double n = static_cast<double>(pauses.size());
    const double mean = std::accumulate(pauses.begin(), pauses.end(), 0.0) / n;
    double variance = 0;
    for (const double pause : pauses) variance += (pause - mean) * (pause - mean) / (n - 1);
    if (variance > 2 * mean) return hours{2};
    std::ranges::sort(pauses);
    const double p99 = pauses[static_cast<std::size_t>(std::ceil(0.99 * n)) - 1];
    return Duration{static_cast<std::int64_t>(1.1 * p99 * 60e9)};
  }

 private:
  static constexpr double kLongest = 240;  // minutes
  struct Seen {
    bool any = false;
    Duration last{};
    std::vector<double> pauses;  // in minutes
  };
  std::vector<Seen> seen_;
};

class Router : public WholeModels {
 public:
  Router() : WholeModels{"llama-server"} {}

 protected:
  bool crowded(const House& house, std::size_t model, std::size_t gone) const override {
    std::size_t resident = 0;
    for (std::size_t i = 0; i < house.models.size(); ++i) {
      resident += i != model && house.models[i].resident > Bytes{};
    }
    return resident - gone >= kMost;
  }

 private:
  static constexpr std::size_t kMost = 4;
};

// Of the models outside `stay` one at a time.
class Swap : public WholeModels {
 public:
  Swap(std::string_view name, std::vector<bool> stay) : WholeModels{name}, stay_{std::move(stay)} {}

 protected:
  bool crowded(const House& house, std::size_t model, std::size_t gone) const override {
    if (stay_[model]) return false;
    std::size_t resident = 0;
    for (std::size_t i = 0; i < house.models.size(); ++i) {
      resident += i != model && !stay_[i] && house.models[i].resident > Bytes{};
    }
    return resident > gone;
  }
  bool may_go(const House&, std::size_t model, std::size_t) const override { return !stay_[model]; }

 private:
  std::vector<bool> stay_;
};

std::vector<bool> smallest_beside_the_largest(const Trace& trace, Bytes memory) {
  std::vector<std::size_t> by_size(trace.models.size());
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
  std::ranges::sort(by_size, {}, [&trace](std::size_t i) { return trace.models[i].size; });
  std::vector<bool> stay(trace.models.size());
  Bytes sum = trace.models[by_size.back()].size;
  for (const std::size_t i : by_size) {
    sum += trace.models[i].size;
    if (i == by_size.back() || sum > memory) break;
    stay[i] = true;
  }
  return stay;
}

class GreedyDual : public WholeModels {
 public:
  explicit GreedyDual(std::size_t models) : WholeModels{"gdsf"}, seen_(models) {}

  void arrived(const House& house, std::size_t model) override {
    Seen& seen = seen_[model];
    ++seen.frequency;
    const Bytes size = house.models[model].size;
    const double cost = count_of(size) / house.machine.read_bytes_per_s +
                        milliseconds_of(house.machine.setup) / 1000;
    seen.priority = clock_ + seen.frequency * cost / (count_of(size) / 1e9);
  }

 protected:
  double worth(const House&, std::size_t model) const override { return seen_[model].priority; }
  void given_up(const House&, std::size_t model) override {
    clock_ = std::max(clock_, seen_[model].priority);
    seen_[model].frequency = 0;
  }

 private:
  struct Seen {
    double frequency = 0;
    double priority = 0;
  };
  std::vector<Seen> seen_;
  double clock_ = 0;
};

class Clairvoyant : public WholeModels {
 public:
  explicit Clairvoyant(const Trace& trace)
      : WholeModels{"clairvoyant"}, uses_(trace.models.size()) {
    for (const TraceRequest& request : trace.requests) {
      uses_[request.model].push_back(request.at);
    }
  }

 protected:
  double worth(const House& house, std::size_t model) const override {
    const auto next = std::ranges::upper_bound(uses_[model], house.now);
    if (next == uses_[model].end()) return -std::numeric_limits<double>::infinity();
    return -count_of(house.models[model].size) * static_cast<double>((*next - house.now).count());
  }

 private:
  std::vector<std::vector<Duration>> uses_;
};

}  // namespace

std::vector<std::string_view> peer_names() {
  return {"ollama",          "ttl20", "lru",       "llama-server", "llama-swap",
          "llama-swap-sets", "gdsf",  "histogram", "clairvoyant"};
}

std::unique_ptr<Strategy> make_peer(std::string_view name, const Trace& trace,
                                    const Machine& machine) {
  const std::size_t n = trace.models.size();
  if (name == "ollama") return std::make_unique<FixedTimer>(name, minutes{5});
  if (name == "ttl20") return std::make_unique<FixedTimer>(name, minutes{20});
  if (name == "lru") return std::make_unique<WholeModels>(name);
  if (name == "llama-server") return std::make_unique<Router>();
  if (name == "llama-swap") return std::make_unique<Swap>(name, std::vector<bool>(n));
  if (name == "llama-swap-sets") {
    return std::make_unique<Swap>(name, smallest_beside_the_largest(trace, machine.memory));
  }
  if (name == "gdsf") return std::make_unique<GreedyDual>(n);
  if (name == "histogram") return std::make_unique<Histogram>(n);
  if (name == "clairvoyant") return std::make_unique<Clairvoyant>(trace);
  return nullptr;
}

}  // namespace hearth::household
