// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace hearth::engine {

// What the engine writes when nothing of ours is in between: one context, the prompt in one batch,
// then single tokens, always the most probable one, `count` tokens at most. The tests' yardstick.
// Needs load_backends(). Errors: kCorrupt, kInternal.
Result<std::string> greedy_reference(const std::vector<std::string>& paths,
                                     const std::string& prompt, int count);

}  // namespace hearth::engine
