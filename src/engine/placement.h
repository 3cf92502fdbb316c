// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_map>

#include "base/bytes.h"
#include "base/result.h"
#include "engine/memory_use.h"
#include "engine/metadata.h"
#include "engine/model.h"

struct ggml_backend_buffer_type;

namespace hearth::engine {

// Which of a model's tensors a plain load would repack, and what a load takes.
struct Placement {
  std::unordered_map<std::string, ggml_backend_buffer_type*> repacked;  // by the tensor's name
  Bytes repacked_bytes;
  MemoryUse estimate;  // with a context of `cells`
  std::string layout;  // SHA-256 over which tensors are repacked, and how
};

// Asks the engine what it would do with the metadata alone: a load without memory, over a file that
// has the model's header and holes for its weights. May give `metadata` an output tensor of its
// own. Needs the backends; takes some milliseconds.
//
// Errors: kUnsupported, where what the engine would repack is not what we think it would: such a
// model is left to a plain load; kCorrupt with the engine's own words.
Result<Placement> place(Metadata& metadata, Repack repack, int cells, int sequences);

}  // namespace hearth::engine
