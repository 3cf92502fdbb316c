// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bytes.h"

struct llama_context;

namespace hearth::engine {

// Where a loaded model's memory is.
struct MemoryUse {
  Bytes weights;   // anonymous or device memory for weights
  Bytes mapped;    // weights used from the mapped file
  Bytes repacked;  // of `weights`: the part that exists in repacked form only
  Bytes context;   // KV cells
  Bytes compute;
  Bytes device;  // on GPUs, of all the above
};

MemoryUse memory_use_of(const llama_context* context);

}  // namespace hearth::engine
