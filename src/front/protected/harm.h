// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/clock.h"
#include "front/protected/latency_window.h"

namespace hearth::front {

// Shares of time in which some task of a service waited for something, 0 to 1; absent where the
// kernel does not tell.
struct Waits {
  std::optional<double> cpu, memory, io;
};

// What is known of a service at one moment.
struct Harm {
  bool cpu = false;      // it waits for processors
  bool memory = false;   // for memory
  bool io = false;       // for disks
  bool latency = false;  // it has become slow
  // There is evidence of it from after the last begin_anew(): what was given up since is too
  // little.
  bool proved = false;
  // Hearth was at work of late, so that the absence of harm says something.
  bool telling = false;

  bool any() const { return cpu || memory || io || latency; }
};

// Judges from latencies and waits of one service whether Hearth harms it. What is usual is learned
// while Hearth does nothing; harm is told only from what comes while it works, but for memory,
// which it holds also while it does not. Whoever was harmed counts as well again only clearly below
// the limit. Pure; not thread-safe.
class HarmJudge {
 public:
  struct Limits {
    double p99 = 1.10;   // of what is usual
    double waits = 1.0;  // of the time; 1: whatever they are
    // Differences of latency that mean nothing, whatever their ratio.
    Duration noise = std::chrono::microseconds{200};
  };
  explicit HarmJudge(Limits limits);

  enum class Hearth { kIdle, kBusy };
  // In order of time. What was taken half in one and half in the other is of no use to either.
  void add_latency(TimePoint at, Duration latency, Hearth hearth);
  // `over`: the time that they are shares of.
  void add_waits(const Waits& waits, Duration over, Hearth hearth);

  // Hearth takes more or less than before, or the service has come back: what was seen until now
  // says nothing about that. What is usual stays.
  void begin_anew();
  // It is not there to be harmed.
  void leave();

  Harm judge(TimePoint now);

  // Absent: not enough is known.
  std::optional<Duration> usual() const;         // 99th percentile while Hearth did nothing
  std::optional<Duration> current() const;       // while it worked, when it last did
  std::optional<double> worst_wait() const;      // the last
  Duration slowest() const { return slow_as_; }  // current(), when it last proved harm
  // Enough has been seen to judge at all.
  bool knows() const;
  // Some of the last latencies was above the limit; more of them, sooner, would tell.
  bool suspects() const;

 private:
  struct Wait {
    std::optional<double> last;
    Duration over{};  // that long above the limit, without a break
    bool harmed = false;
  };
  void add_wait(Wait& wait, std::optional<double> share, Duration over);
  std::optional<Duration> limit() const;
  bool is_slow() const;
  bool is_well() const;

  Limits limits_;
  LatencyWindow idle_, busy_;
  Wait cpu_, memory_, io_;
  bool slow_ = false;
  std::optional<Duration> current_;
  Duration slow_as_{};
  std::optional<TimePoint> busy_at_;
};

}  // namespace hearth::front
