// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/call.h"
#include "base/async.h"

// The routes under /v1/messages, and how Anthropic's clients want the lists of /v1/models.
namespace hearth::api::anthropic {

Task<void> messages(Call call);
// Tokenizes as messages() would; loads no weights.
Task<void> count_tokens(Call call);

}  // namespace hearth::api::anthropic
