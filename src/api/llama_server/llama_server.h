// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/call.h"
#include "base/async.h"

// What clients of llama.cpp's server ask for beside OpenAI's routes.
namespace hearth::api::llama_server {

// Starts a worker where there is none; loads no weights.
Task<void> tokenize(Call call);
Task<void> props(Call call);
Task<void> slots(Call call);

}  // namespace hearth::api::llama_server
