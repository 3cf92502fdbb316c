// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "cli/chat_stream.h"
#include "cli/session.h"

namespace hearth::cli {

struct ShownReply {
  std::string text;
  ReplyEnd end;
  double first_token_ms = 0;  // as this client saw it; 0: none came
};

// Asks for a streamed reply and writes its text to standard output as it comes; while the model
// warms, a progress bar stands on standard error if that is a terminal. Reasoning is shown dim, and
// only on a terminal. ^C hangs up, which cancels the request, and returns at once. Errors:
// kCancelled (^C), kUnavailable (no server, or the stream broke off), others as the server says.
Result<ShownReply> show_reply(const Session& session, const std::string& body);

}  // namespace hearth::cli
