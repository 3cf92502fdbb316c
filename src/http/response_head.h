// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/message.h"

namespace hearth::http {

enum class BodyFraming {
  kNone,        // 204, 304: neither body nor length
  kLength,      // Content-Length
  kChunked,     // Transfer-Encoding: chunked
  kUntilClose,  // HTTP/1.0: the end of the connection ends the body
};

enum class After { kKeepAlive, kClose };

struct ResponseHead {
  int status = 200;
  const Headers& headers;
  BodyFraming framing = BodyFraming::kLength;
  std::uint64_t length = 0;  // for kLength
  After after = After::kKeepAlive;
};

// The bytes from the status line to the empty line, with a Date. The framing headers are the
// server's: whatever `headers` says about them is left out. Control characters in values become
// spaces, so no value can start a header of its own.
std::string to_bytes(const ResponseHead& head);

// No answer with this status has a body.
bool is_bodyless(int status);

// What the server says in its own name: {"error":{"message":…,"type":"invalid_request_error"}}, or
// "server_error" where the client did nothing wrong (500, 503).
HttpResponse error_response(int status, std::string_view message);

}  // namespace hearth::http
