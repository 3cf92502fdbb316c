// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hearth {

// An address of http or https, taken apart. It holds no credentials, no fragment, no escapes and no
// steps upward: what is wrong in one of these ways is refused when it is read.
struct HttpUrl {
  std::string scheme;  // "https", "http"
  std::string host;    // lower case; an IPv6 address without brackets
  std::uint16_t port = 0;
  std::string path;   // empty, or begins with "/"
  std::string query;  // without "?"

  // "https://host", with the port where it is not the scheme's own.
  std::string origin() const;

  // At most 2048 characters. Errors: kInvalid, without repeating the text.
  static Result<HttpUrl> parse(std::string_view text);
};

// `text` for use in an address: all but letters, digits, "-", "_", "." and "~" become "%XX".
std::string escaped(std::string_view text);
// The same, step by step: "/" stays.
std::string escaped_path(std::string_view path);

}  // namespace hearth
