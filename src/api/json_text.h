// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace hearth::api {

// Appends `text` as a JSON string with its quotes. `text` is UTF-8.
void append_json_string(std::string& out, std::string_view text);
std::string json_string(std::string_view text);

}  // namespace hearth::api
