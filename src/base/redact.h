// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace hearth {

// `text` with the directories of every absolute path in it cut away: "/m/models/a.gguf" becomes
// "a.gguf". What only holds a slash ("3 tokens/s", "user/model") stays.
std::string without_directories(std::string_view text);

}  // namespace hearth
