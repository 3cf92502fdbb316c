// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/fields.h"
#include "api/tool_calls.h"
#include "wire/messages.h"

namespace hearth::api::anthropic {

// tools, tool_choice. A choice of one tool leaves that one alone in the list, and is required.
// Tools that Anthropic defines or runs itself are refused by their type.
ParallelCalls read_tools(const Fields& body, wire::GenerateMessage& message);

}  // namespace hearth::api::anthropic
