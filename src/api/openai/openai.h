// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/call.h"
#include "base/async.h"

// The routes under /v1.
namespace hearth::api::openai {

Task<void> chat_completions(Call call);
Task<void> completions(Call call);
Task<void> embeddings(Call call);
Task<void> rerank(Call call);
Task<void> list_models(Call call);
Task<void> show_model(Call call);

}  // namespace hearth::api::openai
