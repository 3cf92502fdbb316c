// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/fields.h"

namespace hearth::api::anthropic {

// The body's `system` and `messages` in OpenAI's shape, as JSON text, for the chat template:
// neighbours of one role become one turn, as Anthropic's API has it; texts are joined by line
// feeds; a tool_result becomes a message of the tool, which begins with "Error: " if it is one;
// thinking is passed back as reasoning, redacted thinking is left out, as nobody can read it.
// Empty when something is wrong: also for images and documents, and for a conversation that ends
// with the assistant, whose text this server does not continue.
std::string read_conversation(const Fields& body);

}  // namespace hearth::api::anthropic
