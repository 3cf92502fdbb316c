// SPDX-License-Identifier: Apache-2.0
#include "policy/upkeep.h"

#include <algorithm>
#include <cstdint>

namespace hearth {

std::optional<Duration> break_even(const Upkeep& upkeep) {
  if (!(upkeep.watts > 0)) return std::nullopt;
  const double waited = milliseconds_of(upkeep.to_restore) / 1000;
  const double joules = upkeep.joules_to_restore + waited * upkeep.joules_per_second_waited;
  constexpr double kLongest = 365.0 * 24 * 3600;
  const double seconds = std::clamp(joules / upkeep.watts, 0.0, kLongest);
  return Duration{static_cast<std::int64_t>(seconds * 1e9)};
}

Worth worth_holding(const Upkeep& upkeep, const Expectation& expectation) {
  const std::optional<Duration> longest = break_even(upkeep);
  if (!longest) return Worth::kHold;
  const Duration wait = expectation.next.value_or(expectation.silence);
  return wait < *longest ? Worth::kHold : Worth::kLetGo;
}

}  // namespace hearth
