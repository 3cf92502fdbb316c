// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/fields.h"
#include "api/responses/output.h"
#include "wire/messages.h"

namespace hearth::api::responses {

// tools, tool_choice, parallel_tool_calls. A choice of one function leaves that tool alone in the
// list, and allowed_tools those that it names. Tools that OpenAI runs itself are refused by type.
ParallelCalls read_tools(const Fields& body, wire::GenerateMessage& message);

// text: its format, and a verbosity that asks for nothing.
void read_text_format(const Fields& body, wire::GenerateMessage& message);

}  // namespace hearth::api::responses
