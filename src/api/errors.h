// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "front/reply.h"
#include "http/message.h"

namespace hearth::api {

// Which clients read the answer, and so the shape that its errors have.
enum class Dialect {
  kOpenAi,  // {"error":{"message","type","param","code"}}, code being the HTTP status
  kHearth,  // {"error":{"message","type","field"}}
};

Dialect dialect_of(std::string_view path);

int status_of(ErrorCode code);

// The client's connection ended before its answer did; only ever seen in the history.
inline constexpr int kClientGone = 499;

// Error types as llama-server's clients know them ("invalid_request_error"), also in our own
// dialect.
std::string_view type_of(ErrorCode code);

// The members of the answer's `error`, as JSON: {"message":…}. In OpenAI's dialect, whose clients
// may be anybody, absolute paths in messages of ours are cut to file names.
std::string error_json(Dialect dialect, const front::Refused& refused);

// The whole answer, Retry-After included.
http::HttpResponse error_response(Dialect dialect, const front::Refused& refused);
http::HttpResponse error_response(Dialect dialect, const Error& error);

// An answer that no Error stands for: 403, 404 and 405 of the routes themselves.
http::HttpResponse route_error(Dialect dialect, int status, std::string_view message);

// `text` with each absolute path in it replaced by its last part.
std::string without_directories(std::string_view text);

}  // namespace hearth::api
