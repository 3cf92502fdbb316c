// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

#include "cli/terminal.h"

namespace hearth::cli {

// GET /api/hearth/moves as a table, newest first: at most `most` of them, and on a terminal how
// many there are besides. Empty when there are none. `now_us`: wall time. Pure.
std::string moves_view(const boost::json::object& moves, std::size_t most, std::int64_t now_us,
                       const OutputStyle& style);

}  // namespace hearth::cli
