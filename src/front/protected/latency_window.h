// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>

#include "base/clock.h"

namespace hearth::front {

// The last latencies, at most so many and none older than that, and their quantiles. Times come in
// order. Not thread-safe.
class LatencyWindow {
 public:
  LatencyWindow(std::size_t most, Duration age) : most_{most}, age_{age} {}

  void add(TimePoint at, Duration latency);
  void drop_before(TimePoint at);
  void clear() { seen_.clear(); }

  std::size_t size() const { return seen_.size(); }
  std::size_t count_above(Duration limit) const;

  // The least latency that at least this share of them does not exceed; zero when there is none.
  Duration quantile(double share) const;

 private:
  struct Seen {
    TimePoint at;
    Duration latency;
  };
  std::size_t most_;
  Duration age_;
  std::deque<Seen> seen_;
};

}  // namespace hearth::front
