// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/clock.h"

namespace hearth {

// What holding costs while nobody asks. Memory that nobody else wants costs nothing (pressure sees
// to it when somebody does), so this is about power: a GPU context keeps a device from idling.
struct Upkeep {
  double watts = 0;              // more than without it, as measured
  double joules_to_restore = 0;  // of one time of coming back
  Duration to_restore{};         // that a person then waits
  // What a second of waiting is worth, in joules. 0: only energy counts.
  double joules_per_second_waited = 0;
};

// How long holding may last until it has cost as much as coming back; nullopt: for ever, since it
// costs nothing. Whoever lets go after that time never pays more than twice what one who knew the
// future would have.
std::optional<Duration> break_even(const Upkeep& upkeep);

// What is known of the next request.
struct Expectation {
  Duration silence{};  // since the last one
  // Until the next one, if there is a forecast (NextArrival::likely).
  std::optional<Duration> next{};
};

// Whether to go on holding. By forecast where there is one: yes if the next request is expected
// before holding has cost what coming back does. By silence where there is none: yes until it has
// lasted for break_even().
enum class Worth { kHold, kLetGo };
Worth worth_holding(const Upkeep& upkeep, const Expectation& expectation);

}  // namespace hearth
