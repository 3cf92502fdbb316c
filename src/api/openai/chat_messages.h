// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/fields.h"

namespace hearth::api::openai {

// The body's `messages` in the form that chat templates understand, as JSON text: only the members
// they may read, `developer` as `system`, text parts joined by line feeds, arguments of tool calls
// as text. Empty when something is wrong.
std::string read_messages(const Fields& body);

}  // namespace hearth::api::openai
