// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "traces/post.h"

namespace hearth::cli {

// Sends traces over plain HTTP/1.1; blocks. Errors: kUnavailable; kInvalid, for an endpoint that
// cannot be one.
Result<traces::PostAnswer> post_traces(const traces::Post& post);

}  // namespace hearth::cli
