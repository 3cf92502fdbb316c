// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <deque>
#include <vector>

#include "base/clock.h"
#include "worker/free_cpu.h"

namespace hearth::worker {

// What a step evaluates mostly.
enum class StepKind { kTokens, kPrompt };

// How many threads are to evaluate, from who had the CPUs of late. The engine's threads wait for
// each other many times within a step, spinning: as soon as one of them shares its CPU, all are as
// slow as that one, and slower than fewer threads with CPUs of their own. So the count goes down
// within about a tenth of a second when a neighbour comes, and up again once there has been room
// for half a second, or for up to one and a half where it was in vain before.
//
// Pure: time comes with the readings. Not thread-safe.
class ThreadPolicy {
 public:
  struct Machine {
    int cores = 1;  // physical, of those that this process may use
    int most = 1;   // threads
    int nice = 0;   // priority of the evaluation threads
  };
  explicit ThreadPolicy(Machine machine);

  // With another priority the next decision is a first one.
  void set_nice(int nice);

  // Readings in order of time, a few for each tenth of a second while something is evaluated, two
  // a second otherwise.
  void add(const CpuReading& reading);

  // After a pause nobody else wants a CPU: whatever was seen before it counts no more.
  void begin_alone();

  // Looks at the readings. `running`: threads that evaluated since the last look.
  void decide(int running);

  int count(StepKind kind) const { return counts_[index(kind)]; }

  // Neighbours' demand as the policy sees it now, in CPUs; for people.
  double demand() const { return demand_; }

 private:
  // Between two readings; all in CPUs.
  struct Window {
    Duration length{};
    double others = 0;       // neighbours, those of low priority at a quarter
    double ran = 0;          // evaluation threads
    double share = 1;        // of the time they were ready, the part in which they ran
    bool competing = false;  // they were ready enough for `share` to say something
    double room = 0;         // under the cgroup's quota
  };
  static std::size_t index(StepKind kind) { return kind == StepKind::kTokens ? 0 : 1; }
  const CpuReading* reading_before(TimePoint moment) const;
  Window window(const CpuReading& from, const CpuReading& to) const;
  double shared_demand(const Window& seen, int running) const;
  double speed(int threads, StepKind kind, double demand, double room) const;
  int best(StepKind kind, double demand, double room) const;
  void go_down(StepKind kind, const Window& seen, double demand);
  void go_up(StepKind kind, const Window& seen, double demand);
  void set(StepKind kind, int count, TimePoint now);

  Machine machine_;
  double weight_;             // of our threads against a neighbour's of normal priority
  std::vector<int> choices_;  // counts, ascending
  std::deque<CpuReading> seen_;
  std::array<int, 2> counts_;
  bool decided_ = false;
  double demand_ = 0;
  TimePoint changed_at_, raised_at_;
  Duration patience_;  // before the next step up
};

}  // namespace hearth::worker
