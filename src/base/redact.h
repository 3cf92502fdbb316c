// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace hearth {

// `text` with the directories of every absolute path in it cut away: "/m/models/a.gguf" becomes
// "a.gguf". What only holds a slash ("3 tokens/s", "user/model") stays, and so do addresses.
//
// Directories may hold blanks, so a path goes on to the quote that closes it, else to ": ", a
// double quote, a backtick or the line's end: words between two slashes go rather than that a part
// of a directory stays.
std::string without_directories(std::string_view text);

}  // namespace hearth
