// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/call.h"
#include "base/async.h"

// Routes of no dialect.
namespace hearth::api {

Task<void> root(Call call);
Task<void> health(Call call);
Task<void> metrics(Call call);

}  // namespace hearth::api
