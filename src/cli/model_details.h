// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <string>

#include "cli/terminal.h"

namespace hearth::cli {

// All that the server says about one model, in sections: the model, how long it stays in memory,
// its layers, its process, its file. On a terminal under headings; in a pipe "key<TAB>value" lines.
// Pure. `now_us`: wall time.
std::string model_details(const boost::json::object& model, std::int64_t now_us,
                          const OutputStyle& style);

}  // namespace hearth::cli
