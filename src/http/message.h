// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace hearth::http {

struct Header {
  std::string name;
  std::string value;
};

using Headers = std::vector<Header>;

// The first value of `name`, compared without case.
std::optional<std::string_view> header_of(const Headers& headers, std::string_view name);

struct HttpRequest {
  std::string method;  // upper case
  std::string path;    // percent-decoded, always begins with '/'; never with "//", "." or ".." parts
  std::string query;   // raw, without the '?'
  Headers headers;
  std::string body;
  std::string peer;          // "127.0.0.1:51234"
  TimePoint first_byte;      // when this request's first byte was read

  std::optional<std::string_view> header(std::string_view name) const {
    return header_of(headers, name);
  }
  // The decoded value of a query parameter.
  std::optional<std::string> parameter(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  Headers headers;
  std::string body;

  static HttpResponse text(int status, std::string body);
  static HttpResponse json(int status, std::string body);
};

}  // namespace hearth::http
