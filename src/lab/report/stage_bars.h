// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lab/trial.h"

namespace hearth::lab {

// One stage of a reply on the time line of who waits, which begins with the start of the server
// where one was needed.
struct StageBar {
  std::string name;  // "read"
  double from_ms = 0;
  double length_ms = 0;
};

// The part of a wait of which a server does not tell what it was.
inline constexpr const char* kUntoldStage = "untold";

struct StageBars {
  std::vector<StageBar> bars;  // by their beginning
  // False where the server told lengths alone: they follow each other then, in the order in which a
  // cold reply meets them.
  bool told_when = false;
};

// Of what a row's server told, and what it did not tell of the wait.
StageBars stage_bars(const Trial& row);

// For each bar the lowest lane, from 0, in which nothing else is at that time.
std::vector<int> lanes_of(const std::vector<StageBar>& bars);

}  // namespace hearth::lab
