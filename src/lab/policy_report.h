// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "policy/household/replay.h"

namespace hearth::lab {

using PolicyScores = std::vector<household::Score>;

// For people, one line for each policy.
std::string policy_table(const PolicyScores& scores);

// An array of {"policy", "cold_starts", "cold_seconds", "gb_hours" (what the kernel could not have
// taken back), "held_gb_hours", "demand_gb", "prewarm_gb", "p99_wait_s", "refused"}.
std::string policy_json(const PolicyScores& scores);

// An SVG picture: a bar of cold seconds for each policy, the best first.
std::string policy_picture(const PolicyScores& scores, const std::string& title);

}  // namespace hearth::lab
