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

// The first value of `name`, compared without case. The view lives as long as `headers`.
std::optional<std::string_view> header_of(const Headers& headers, std::string_view name);

// Resolves %XX escapes. nullopt for a malformed escape.
std::optional<std::string> percent_decode(std::string_view text);

// A request's path as handlers see it: `raw` percent-decoded, runs of '/' taken as one. nullopt for
// what no handler should see: no leading '/', a malformed escape, a NUL, a "." or ".." part (also
// when it was escaped).
std::optional<std::string> normal_path(std::string_view raw);

struct HttpRequest {
  std::string method;    // upper case
  std::string path;      // as normal_path() makes it
  std::string query;     // raw, without the '?'
  Headers headers;       // in the client's order; trailers of a chunked body are dropped
  std::string body;      // chunks put together
  std::string peer;      // "127.0.0.1:51234"
  TimePoint first_byte;  // when this request's first byte was read

  std::optional<std::string_view> header(std::string_view name) const {
    return header_of(headers, name);
  }

  // The decoded value of a query parameter ('+' is a space), "" for one without '='. The first one
  // counts; nullopt when there is none or its escapes are malformed.
  std::optional<std::string> parameter(std::string_view name) const;
};

// How the body of a request reaches its handler.
enum class BodyDelivery {
  kWhole,     // in HttpRequest::body
  kStreamed,  // by Exchange::next_body_chunk(), of any length
};

struct HttpResponse {
  int status = 200;
  Headers headers;
  std::string body;

  // With the matching Content-Type.
  static HttpResponse text(int status, std::string body);
  static HttpResponse json(int status, std::string body);

  std::optional<std::string_view> header(std::string_view name) const {
    return header_of(headers, name);
  }
};

}  // namespace hearth::http
