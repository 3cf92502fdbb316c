// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/call.h"
#include "base/async.h"

// The routes under /api/v1, as LM Studio's clients know them. An instance of a model is the model:
// its id is the name.
namespace hearth::api::lm_studio {

Task<void> list_models(Call call);
Task<void> load(Call call);
Task<void> unload(Call call);

}  // namespace hearth::api::lm_studio
