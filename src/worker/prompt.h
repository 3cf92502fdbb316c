// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/chat_format.h"
#include "engine/tokens.h"
#include "wire/messages.h"
#include "worker/language.h"

namespace hearth::worker {

// What a model is to read, and how its answer is to be steered.
struct Prompt {
  engine::RenderedChat chat;
  std::vector<engine::Token> tokens;
  int dropped_messages = 0;
  // In the text of those messages, without the template's markup; of a raw prompt all that is gone.
  // Of a text of megabytes, where most is dropped unread, an estimate by its length.
  int dropped_tokens = 0;
};

// How many tokens prompt and reply of this request may have together.
int context_of(const Language& language, const wire::GenerateMessage& message);

// Renders and tokenizes, and shortens the prompt where it is too long and may be shortened. Where
// only tokens are counted, a prompt may be longer than the context.
// Errors: kInvalid with the field at fault; kTooLong with both counts.
Result<Prompt> build_prompt(const Language& language, const wire::GenerateMessage& message);

// A text far over `limit` would take longer to tokenize than the front waits for a sign of life,
// and hold up everybody else's. Errors: kTooLong with counts: a lower bound, and the limit.
Result<> check_length(const Language& language, const std::string& text, int limit);

}  // namespace hearth::worker
