// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/call.h"
#include "api/generation.h"
#include "base/async.h"

namespace hearth::api::admin {

// Loads a model's weights and answers with the model. With return_progress the answer is a stream
// of JSON lines: {"progress":{…}} while it goes on, then the model, or {"error":…}. A client that
// leaves changes nothing, unless it was its own wait limit that ended the wait.
Task<void> load_weights(Call call, RequestOptions options);

}  // namespace hearth::api::admin
