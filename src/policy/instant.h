// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace hearth {

// One moment on the two clocks that arrivals are learnt by. Intervals come from the first, which
// nobody sets; the hour of the week from the second, which people and time servers do.
struct Instant {
  Duration boot{};           // CLOCK_BOOTTIME: counts suspended time, starts anew with the machine
  std::int64_t local_s = 0;  // seconds since 1970-01-01 as the household's wall clock shows them
};

}  // namespace hearth
