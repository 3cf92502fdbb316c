// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "api/call.h"
#include "api/openai/reply_format.h"
#include "api/openai/requests.h"
#include "base/async.h"

namespace hearth::api::openai {

using MakeFormat = std::unique_ptr<ReplyFormat> (*)(ReplyIdentity);

// Runs a request that was read well, and sends its reply whole or as a stream. An error before the
// first byte has its own status; one after it is the stream's last event.
Task<void> serve_generate(Call call, GenerateCall request, MakeFormat make_format);

// Who asks, and how.
front::RequestContext context_of(const Call& call, std::string model);

// An error found before the front was asked.
Task<void> refuse(Call call, Error error);

// The answer to a request that the front refused, and its end.
Task<void> send_refusal(http::Exchange& exchange, front::Reply& reply, front::Refused refused);

// The name and figures that each reply of this request repeats, as they are known now.
ReplyIdentity identity_of(const Call& call, const front::Reply& reply, const std::string& model);

}  // namespace hearth::api::openai
