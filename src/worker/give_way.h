// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"

namespace hearth::worker {

// When the next step may begin, if evaluation is to take at most a share of the time: after a rest
// in proportion to what was evaluated. Whatever time passes between steps counts as rest, so the
// first step after a while comes at once. No rest lasts longer than ten seconds, however long the
// steps before it were: a step always comes.
//
// Pure; not thread-safe.
class DutyCycle {
 public:
  // 1 to 100; what else comes is taken for the nearest of these. Also for the rest that is due now.
  void set_percent(int percent);
  bool rests() const { return percent_ < 100; }

  // In order of time.
  void worked(TimePoint begin, TimePoint end);

  // The next step's time; in the past where none is due.
  TimePoint rest_until() const;

 private:
  double rest_for_work() const { return (100.0 - percent_) / percent_; }

  int percent_ = 100;
  TimePoint ended_;
  Duration unrested_{};  // work whose rest has not been taken
};

}  // namespace hearth::worker
