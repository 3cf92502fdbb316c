// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/terminal.h"
#include "cli/top_state.h"

namespace hearth::cli {

// All of the screen of `hearth top`: the memory budget, today's waits, models with their levels,
// what is under way with its stages, and the last replies. At most `rows` lines (0: as many as it
// takes), of style.width cells each where that is 40 or more; what there is no room for is counted.
// Pure.
std::vector<std::string> top_frame(const TopState& state, const TopMoment& moment, std::size_t rows,
                                   const OutputStyle& style);

// The same as one JSON object, in the API's own words.
boost::json::object top_json(const TopState& state, const TopMoment& moment);

}  // namespace hearth::cli
