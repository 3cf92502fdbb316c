// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace hearth {

// What one model's files say, at length.
struct GgufDetails {
  std::string metadata;       // JSON object; lists of more than 64 values, and texts beyond the
                              // bound below, are null
  std::string chat_template;  // with its lines
  std::string license_text;   // likewise; the license's name where there is no text
  std::string tensors;        // JSON list of {"name", "type", "shape"}
  std::string layers;         // JSON list of {"layer", "bytes"}, in file order
  // JSON: {"weights_bytes", "kv_bytes", "kv_context", "total_bytes", "note"}; what a first load
  // wants of the memory. Null where the file does not tell; the note says why.
  std::string need;
};

// `paths`: the files of the model, in order; metadata is the first one's. Files are read as
// carefully as by read_gguf_header(); beside the tensor list at most 8 MiB of texts are kept.
// Blocks on the disk. Errors: kCorrupt, kNotFound, kUnavailable.
Result<GgufDetails> read_gguf_details(const Files& files, const std::vector<std::string>& paths);

}  // namespace hearth
