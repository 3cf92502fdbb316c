// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <string>

#include "cli/terminal.h"

namespace hearth::cli {

// One request's history entry as `hearth why` shows it: its stages with a bar for each one's place
// in the total, then class, verdict and remedy, what was warm before and what that saved. At most
// style.width cells wide where the server's own words allow it. Pure; `now_us` is wall time.
std::string timeline_view(const boost::json::object& request, std::int64_t now_us,
                          const OutputStyle& style);

// One line for after a reply: "load-cold, first token 812 ms, 61.2 tokens/s". Takes the `hearth`
// and `timings` objects of a reply; empty when they say nothing.
std::string reply_summary(const boost::json::object& hearth, const boost::json::object& timings,
                          double first_token_ms);

}  // namespace hearth::cli
