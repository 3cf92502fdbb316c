// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "base/clock.h"

namespace hearth {

// A timer behind a model's requests: every so often one comes, whatever else comes between.
struct Beat {
  Duration period{};
  Duration window{};  // it comes up to so much before or after
  Duration last{};    // the newest arrival on the beat, on the time line of the arrivals
  int looked = 0;     // at so many beats before that one,
  int kept = 0;       // of which so many had an arrival

  // That it strikes in [now, now + within]. Of a beat that was just missed, the next one counts;
  // with each one missed in a row that is less likely, and soon it is no beat any more.
  double probability(Duration now, Duration within) const;
};

// The shortest period that the arrivals keep, out of those that people give timers, else the median
// gap, if they keep that; four hours at most, since longer ones show in the hours of the day.
// nullopt if there is none, or if so many come that they would seem to keep any. `arrivals` are
// oldest first. Pure.
std::optional<Beat> find_beat(std::span<const Duration> arrivals);

}  // namespace hearth
