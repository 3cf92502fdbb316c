// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "lab/machine/machine.h"
#include "lab/studies/driver.h"

namespace hearth::lab {

// Waits pauses out. All sides rest at the same time, and are asked one after another, so that a
// night is enough. The pause of a side begins when its own last answer ended; without a pause each
// is asked right after its own use. One that became longer than it was to be does not count.
//
// A run that was ended in the middle of a pause begins that pause anew, unless all sides are
// servers that stay without the lab: then waiting.json in the run's directory says when it began,
// and only what is left of it is waited. Not thread-safe.
class RealPauses {
 public:
  struct World {
    StudyDriver& driver;
    RunDirectory& rows;
    Machine& machine;
    const Clock& clock;
    std::function<bool()> stop;
    std::function<void(std::chrono::seconds left)> on_waiting;  // about each second
    bool servers_stay = false;
  };
  explicit RealPauses(World world) : world_{std::move(world)} {}

  // Of idle_study(..., kReal).
  void run(const Study& study, int repetitions, std::uint64_t seed, Meanwhile meanwhile);

 private:
  struct Round {
    const Arm* arm = nullptr;
    std::vector<Plan> plans;             // of one pause, one for each side that is not settled
    std::vector<std::int64_t> begun_us;  // by plan
  };
  Round round_of(const Study& study, std::size_t arm, int repetition) const;
  void make(Round round, Meanwhile meanwhile);
  void begin(Round& round);
  bool recall(Round& round) const;
  void note(const Round& round);
  bool wait(const Round& round, std::size_t plan, Meanwhile meanwhile);
  void back_up();

  World world_;
  bool backed_up_ = false;  // in this round
};

}  // namespace hearth::lab
