// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/fields.h"
#include "wire/messages.h"

namespace hearth::api::ollama {

// `messages` of /api/chat as JSON text in OpenAI's shape, which is what the engine's templates
// read: arguments of calls become text, `thinking` reasoning_content, `tool_name` name. Empty when
// there are none.
std::string read_messages(const Fields& body);

// One message for each text; an empty `system` is left out.
std::string messages_of(const std::string& system, const std::string& prompt);

// `tools`, each checked.
void read_tools(const Fields& body, wire::GenerateMessage& message);

// `images`: no model here reads any, so a list that is not empty is refused. Nothing is fetched.
void refuse_images(const Fields& fields);

}  // namespace hearth::api::ollama
