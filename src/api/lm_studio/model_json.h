// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "front/service.h"

// Models as LM Studio's lists show them. Pure.
namespace hearth::api::lm_studio {

// "llm" or "embedding"
std::string_view type_of(const front::ModelStatus& model);

// {"context_length"}: what an instance was loaded with, or would be.
std::string config_json(const front::ModelStatus& model);

// Tokens that a conversation with it may have.
int context_of(const front::ModelStatus& model);

std::string entry_json(const front::ModelStatus& model);

}  // namespace hearth::api::lm_studio
