// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace hearth {

// CLOCK_MONOTONIC: the one time line that the front and all workers share, so that stages stamped
// in different processes can be merged. libstdc++'s steady_clock reads exactly that clock.
using TimePoint = std::chrono::steady_clock::time_point;
using Duration = std::chrono::nanoseconds;

// Two clocks behind one seam: monotonic time for intervals, wall time for people. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const = 0;

  // Microseconds since 1970-01-01 UTC; may jump when somebody sets the clock.
  virtual std::int64_t wall_us() const = 0;

  static const Clock& real();
};

// A clock that moves only when a test says so.
class ManualClock : public Clock {
 public:
  TimePoint now() const override { return now_; }
  std::int64_t wall_us() const override { return wall_us_; }
  void advance(Duration by) {
    now_ += by;
    wall_us_ += std::chrono::duration_cast<std::chrono::microseconds>(by).count();
  }

 private:
  TimePoint now_{std::chrono::hours{1}};
  std::int64_t wall_us_ = 1'700'000'000'000'000;
};

inline std::int64_t nanoseconds_of(TimePoint t) { return t.time_since_epoch().count(); }
inline TimePoint time_point_of(std::int64_t ns) { return TimePoint{Duration{ns}}; }
inline double milliseconds_of(Duration d) { return static_cast<double>(d.count()) / 1e6; }

}  // namespace hearth
