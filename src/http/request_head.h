// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/message.h"

namespace hearth::http {

// What the server answers by itself when it cannot hand a request to the handler.
struct Refusal {
  int status = 400;
  std::string message;
};

// A request target in its two parts, the path as normal_path() makes it.
struct Target {
  std::string path;
  std::string query;
};

// The absolute form that proxies use loses its scheme and authority; "*" is "/". nullopt for a path
// that no handler should see.
std::optional<Target> parse_target(std::string_view raw);

// Reads what it can of a request whose header is incomplete or malformed: method, path, query and
// those header lines that have come. For whoever words the refusal; never to be served. nullopt as
// long as the request line is incomplete, or when it is none.
std::optional<HttpRequest> peek_head(std::string_view bytes);

// Two things in a header, or in a piece of one, that Beast puts up with and others read
// differently: a line feed without its carriage return, and a value that goes on in the next line.
std::optional<Refusal> check_lines(std::string_view header);

}  // namespace hearth::http
