// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/fields.h"
#include "wire/messages.h"

namespace hearth::api::openai {

// chat_template_kwargs, and reasoning_effort, which templates of models that reason in degrees know
// by the same name and others leave alone; "none" asks any template for no reasoning.
void read_template_arguments(const Fields& body, wire::GenerateMessage& message);

}  // namespace hearth::api::openai
