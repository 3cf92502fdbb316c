// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/call.h"
#include "api/reply_format.h"
#include "base/async.h"
#include "front/keep_alive.h"
#include "front/reply.h"

// What all dialects do with a request once it has been read.
namespace hearth::api {

// What every request says beside its own matter.
struct RequestOptions {
  std::string model;  // as the client wrote it
  std::optional<front::KeepAlive> keep_alive;
  bool return_progress = false;           // tell how a model warms
  std::vector<std::string> modules = {};  // named beginnings of the prompt, in this order
  bool approximate = false;               // they may be used at other positions than their own
};

struct GenerateCall {
  RequestOptions options;
  wire::GenerateMessage message;
  front::Delivery delivery = front::Delivery::kWhole;
};

// Runs a request that was read well, and sends its reply whole or as a stream. An error before the
// first byte has its own status; one after it is the stream's last event.
Task<void> serve_generate(Call call, GenerateCall request, MakeFormat make_format);

// Runs a request that only counts its prompt, and answers with what `body` makes of the tokens.
using CountBody = std::string (*)(int tokens);
Task<void> serve_count(Call call, GenerateCall request, CountBody body);

// Who asks, and how.
front::RequestContext context_of(const Call& call, const RequestOptions& options);

// An error found before the front was asked.
Task<void> refuse(Call call, Error error);

// What an answer says about itself beside its body (reply_headers.h); to Anthropic's clients also
// `request-id`, where they look for the id.
void add_headers(http::Headers& headers, const Call& call, const front::Reply& reply,
                 const RequestReport& report);

// The answer to a request that the front refused, and its end.
Task<void> send_refusal(Call call, front::Reply& reply, front::Refused refused);

// Waits for the end of a reply that is not streamed, Finished or Refused. What it brings before is
// put together in `collected`.
Task<front::Event> collect(front::Reply& reply, Collected& collected);

// The name and figures that each reply of this request repeats, as they are known now.
ReplyIdentity identity_of(const Call& call, const front::Reply& reply, const std::string& model);

}  // namespace hearth::api
