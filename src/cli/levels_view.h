// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <string>

#include "cli/terminal.h"

namespace hearth::cli {

// GET /api/hearth/levels as text: services that come first, what is read ahead and what that costs,
// and which models have to be warm. `now_us`: wall time. Pure.
std::string levels_view(const boost::json::object& levels, std::int64_t now_us,
                        const OutputStyle& style);

}  // namespace hearth::cli
