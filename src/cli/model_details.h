// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <string>

#include "cli/terminal.h"

namespace hearth::cli {

// All that the server says about one model, in sections: the model, how long it stays in memory,
// its layers, its process, its files and settings. On a terminal under headings; in a pipe
// "key<TAB>value" lines. Pure. `now_us`: wall time.
std::string model_details(const boost::json::object& model, std::int64_t now_us,
                          const OutputStyle& style);

// What a model's file holds: what a load needs of the memory, and the bytes of its tensors by
// layer. Likewise.
std::string content_details(const boost::json::object& content, const OutputStyle& style);

}  // namespace hearth::cli
