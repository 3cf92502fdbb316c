// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::api {

// Appends `text` as a JSON string with its quotes. `text` is UTF-8.
void append_json_string(std::string& out, std::string_view text);
std::string json_string(std::string_view text);

// A list of strings.
std::string json_strings(const std::vector<std::string>& texts);

// Appends a list of numbers. JSON has no others than finite ones: those become 0.
void append_json_floats(std::string& out, std::span<const float> values);

}  // namespace hearth::api
