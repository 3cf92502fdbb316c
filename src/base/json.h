// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hearth {

// Parses a request body or a frame. Limits: nesting of 64. Strings must be UTF-8, also after
// escapes (a lone surrogate is refused); a byte order mark before the first brace is skipped; NUL
// inside a string is allowed, as JSON allows it. Errors: kInvalid, with what was wrong and the byte
// it stands at.
Result<boost::json::value> parse_json(std::string_view text);

// True when `text` is well-formed UTF-8 (no surrogates, no overlong forms).
bool is_utf8(std::string_view text);

// The longest prefix of `text` that ends on a character border; used to hold back half a character
// of a stream. Bytes that can never become a character count as complete.
std::size_t complete_utf8_prefix(std::string_view text);

// `text` with every malformed sequence replaced by U+FFFD.
std::string repair_utf8(std::string_view text);

}  // namespace hearth
