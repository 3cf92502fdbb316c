// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/context.h"

struct llama_context_params;

namespace hearth::engine {

// What every context of ours has in common, apart from threads, flags and gate: also for estimates
// of what one would take.
llama_context_params context_params(const Context::Options& options);

}  // namespace hearth::engine
