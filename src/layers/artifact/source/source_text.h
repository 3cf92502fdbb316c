// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/text.h"

// What the forms of a source have in common.
namespace hearth {

// kInvalid, for the request's field "model".
Failed invalid_source(std::string message);

// Whether `part` begins with a letter, a digit or "_" and goes on with these, ".", "-"; at most 96
// characters. Errors: kInvalid, calling it `what`.
Result<> check_part(std::string_view part, std::string_view what);

// At least one part.
std::vector<std::string_view> split(std::string_view text, char at);

// 64 hexadecimal digits in lower case.
bool is_sha256(std::string_view text);

}  // namespace hearth
