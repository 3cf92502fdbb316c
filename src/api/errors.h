// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/dialect.h"
#include "base/redact.h"
#include "base/result.h"
#include "front/reply.h"
#include "http/message.h"

namespace hearth::api {

int status_of(ErrorCode code);

// The client's connection ended before its answer did; only ever seen in the history.
inline constexpr int kClientGone = 499;

// Error types as llama-server's clients know them ("invalid_request_error"), also in our own
// dialect. Anthropic's are derived from the status.
std::string_view type_of(ErrorCode code);

// One way in which a request can fail, for the documentation.
struct ErrorKind {
  int status;
  std::string_view type;       // OpenAI's dialect and our own
  std::string_view anthropic;  // the type in Anthropic's
  std::string when;
};

// All there are, by status; none twice.
std::vector<ErrorKind> error_kinds();

// Who reads it: only those who run the server see where files lie.
enum class Audience { kAdmin, kClients };

// The whole body of an error, as it stands in an answer or in a stream's last event. For clients,
// absolute paths in messages of ours are cut to file names.
std::string error_body(Dialect dialect, Audience audience, const front::Refused& refused);

// The whole answer, Retry-After included.
http::HttpResponse error_response(Dialect dialect, Audience audience,
                                  const front::Refused& refused);
http::HttpResponse error_response(Dialect dialect, Audience audience, const Error& error);

// An answer that no Error stands for: 401, 403, 404 and 405 of the routes themselves, and what the
// HTTP server refuses.
http::HttpResponse route_error(Dialect dialect, int status, std::string_view message);

// `text` with each absolute path in it replaced by its last part.
using hearth::without_directories;

}  // namespace hearth::api
