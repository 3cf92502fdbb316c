// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/fields.h"
#include "api/tool_calls.h"
#include "wire/messages.h"

namespace hearth::api::openai {

// tools, tool_choice, parallel_tool_calls. A choice of one function leaves that tool alone in the
// list, and is required.
ParallelCalls read_tools(const Fields& body, wire::GenerateMessage& message);

// response_format, and llama-server's json_schema beside it.
void read_response_format(const Fields& body, wire::GenerateMessage& message);

}  // namespace hearth::api::openai
