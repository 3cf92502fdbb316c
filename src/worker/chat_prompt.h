// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/chat_format.h"
#include "engine/tokens.h"
#include "wire/messages.h"
#include "worker/language.h"
#include "worker/prompt.h"
#include "worker/truncate.h"

namespace hearth::worker {

// Errors: kInvalid at "think".
Result<engine::ChatRequest> chat_request(const wire::GenerateMessage& message);

// The conversation, without its oldest messages where it is too long. Errors: as build_prompt's.
Result<Prompt> shortened_chat(const Language& language, const engine::ChatFormat& format,
                              const engine::ChatRequest& request, PromptRoom room);

// Tokens of a rendered conversation that goes on from others, and so has no BOS.
std::vector<engine::Token> continued_tokens(const engine::Vocabulary& vocabulary,
                                            const std::string& rendered);

}  // namespace hearth::worker
