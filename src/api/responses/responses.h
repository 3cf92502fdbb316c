// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/call.h"
#include "base/async.h"

// The routes under /v1/responses.
namespace hearth::api::responses {

Task<void> create(Call call);
// Tokenizes as create() would; loads no weights.
Task<void> count(Call call);
Task<void> show(Call call);
Task<void> list_input(Call call);
Task<void> remove(Call call);

}  // namespace hearth::api::responses
