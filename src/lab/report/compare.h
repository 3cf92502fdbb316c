// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lab/report/summary.h"

namespace hearth::lab {

enum class ChangeVerdict { kSlower, kFaster, kNoneToTell, kTooFew };
std::string_view name_of(ChangeVerdict verdict);  // "slower", ..., "too few to tell"

// One side in one arm of two runs.
struct Change {
  std::string side;
  std::string arm;
  Interval before_ms;
  Interval after_ms;
  Interval change;  // after / before; as wide as it takes for all of a comparison to hold together
  ChangeVerdict verdict = ChangeVerdict::kNoneToTell;
};

struct Comparison {
  std::vector<Change> changes;
  std::vector<std::string> only_before;  // "side: arm"
  std::vector<std::string> only_after;
  std::vector<std::string> cautions;  // sentences: another machine, model, option, version

  // Whether anything is slower.
  bool regressed() const;
};

// Slower or faster is what lies outside the interval and is more than 5 % as well. The intervals
// allow for how many are looked at: with nothing changed, one comparison in twenty finds something.
// Fewer than 3 rows on either side are too few; of fewer than 6 the interval is a range. Pure.
Comparison compare(const RunInfo& before_info, const std::vector<Trial>& before,
                   const RunInfo& after_info, const std::vector<Trial>& after);

std::string to_json(const Comparison& comparison);

}  // namespace hearth::lab
