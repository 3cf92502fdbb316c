// SPDX-License-Identifier: Apache-2.0
#include "policy/household/optimum.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace hearth::household {
namespace {

// What is least for each set of resident models; bit i is model i.
struct Spent {
  bool possible = false;
  double seconds = 0;
  double gb = 0;
  int starts = 0;

  void offer(const Spent& other) {
    if (!possible || other.seconds < seconds) *this = other;
  }
};

class Optimum {
 public:
  Optimum(const Trace& trace, const Machine& machine)
      : trace_{trace}, machine_{machine}, fits_(std::size_t{1} << trace.models.size()) {
    for (std::size_t set = 0; set < fits_.size(); ++set) {
      Bytes sum{};
      for (std::size_t i = 0; i < trace.models.size(); ++i) {
        if ((set >> i & 1) != 0) sum += trace.models[i].size;
      }
      fits_[set] = sum <= machine.memory;
    }
  }

  Spent least() const {
    std::vector<Spent> spent(fits_.size());
    spent[0].possible = true;
    for (const TraceRequest& request : trace_.requests) spent = after(spent, request.model);
    Spent best;
    for (const Spent& one : spent) {
      if (one.possible) best.offer(one);
    }
    return best;
  }

 private:
  // Giving something up before it must go wins nothing, so only a load chooses.
  std::vector<Spent> after(const std::vector<Spent>& before, std::size_t model) const {
    const std::size_t bit = std::size_t{1} << model;
    std::vector<Spent> now(before.size());
    for (std::size_t set = 0; set < before.size(); ++set) {
      if (!before[set].possible) continue;
      if ((set & bit) != 0) {
        now[set].offer(before[set]);
        continue;
      }
      const Spent loaded = with_load(before[set], model);
      // All subsets of what was there, the whole of it first.
      for (std::size_t keep = set;; keep = (keep - 1) & set) {
        if (fits_[keep | bit]) now[keep | bit].offer(loaded);
        if (keep == 0 || fits_[set | bit]) break;
      }
    }
    return now;
  }

  Spent with_load(Spent spent, std::size_t model) const {
    const auto bytes = static_cast<double>(trace_.models[model].size.count());
    spent.seconds += bytes / machine_.read_bytes_per_s + milliseconds_of(machine_.setup) / 1000;
    spent.gb += bytes / 1e9;
    ++spent.starts;
    return spent;
  }

  const Trace& trace_;
  const Machine& machine_;
  std::vector<bool> fits_;
};

}  // namespace

std::optional<Score> optimum(const Trace& trace, const Machine& machine) {
  if (trace.models.size() > kMostModels) return std::nullopt;
  const bool all_fit = std::ranges::all_of(
      trace.models, [&machine](const TraceModel& model) { return model.size <= machine.memory; });
  if (!all_fit) return std::nullopt;
  const Spent spent = Optimum{trace, machine}.least();
  Score score;
  score.strategy = "optimum";
  score.cold_starts = spent.starts;
  score.cold_seconds = spent.seconds;
  score.demand_gb = spent.gb;
  return score;
}

}  // namespace hearth::household
