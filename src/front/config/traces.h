// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

// Where traces go. All errors are kInvalid, as the end of a sentence that begins with the option's
// name; what a header's value is stands in none of them.
namespace hearth::front {

// "http://host[:port][/path]", or nothing.
Result<> check_traces_endpoint(const std::string& text);

// With the path that collectors listen at, where `endpoint` has none. Empty stays empty.
std::string full_traces_endpoint(std::string endpoint);

// "name=value", the value with %XX for what is special; the name in lower case.
Result<std::pair<std::string, std::string>> parse_traces_header(std::string_view text);
Result<> check_traces_header(const std::string& text);

Result<> check_traces_service_name(const std::string& text);

}  // namespace hearth::front
