// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <string>

#include "cli/terminal.h"

// What the server says about kept prompts, as text. Pure: same input, same text.
namespace hearth::cli {

// The answer of /api/hearth/prefix: sums, then a table of models, then what was found.
std::string prefix_view(const boost::json::object& view, const OutputStyle& style);

// Both of the `prefix` object of a reply or of the history, empty where it has nothing to say:
// "1,600 tokens from memory, 64 from disk, 38.1 MiB read"
std::string restored_text(const boost::json::object& prefix);
// "prefix miss at token 12 (char 80): had "28", now "29"", or with the reason in words.
std::string miss_text(const boost::json::object& prefix);

}  // namespace hearth::cli
