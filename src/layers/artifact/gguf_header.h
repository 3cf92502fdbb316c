// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "layers/artifact/load_set.h"
#include "layers/artifact/model_facts.h"

namespace hearth {

// The head of one GGUF file (version 2 or 3, little-endian): what it says about the model, and
// where its tensors lie. Vocabulary and template are passed over, not kept.
struct GgufHeader {
  struct Tensor {
    std::string name;
    Range range;                           // in the file
    std::string_view type;                 // "Q4_K"
    std::array<std::uint64_t, 4> shape{};  // the first `dimensions` of them
    std::uint32_t dimensions = 0;
  };
  // All zero in a file that is no part of a set.
  struct Split {
    std::uint64_t number = 0;  // from 0
    std::uint64_t count = 0;
    std::uint64_t tensors = 0;  // in the whole set
  };

  std::uint32_t version = 0;
  std::string type;  // "model", "adapter", "mmproj"; empty where the file does not say
  ModelFacts facts;
  Split split;
  std::vector<Tensor> tensors;  // in file order
  FileInfo file;                // taken from the open descriptor, so it is what was read
  std::uint64_t data_begin = 0;
  std::uint64_t data_end = 0;
  std::string digest;  // SHA-256 of the bytes before the data, hexadecimal

  // What a load touches: the header and the tensors, with pieces that nearly touch joined.
  std::vector<Range> load_ranges() const;
};

// Reads and checks the head of a file that may be anything. A file that passes has every tensor
// inside it; sizes and counts in it are bounded by what was proved to be there, so memory stays
// under a few MiB beyond the tensor list.
//
// Blocks on the disk; call from a pool. Errors: kCorrupt with the exact reason (also for a
// directory, a FIFO or an empty file); kUnsupported for another format, with what to do; kNotFound;
// kUnavailable.
Result<GgufHeader> read_gguf_header(const Files& files, const std::string& path);

}  // namespace hearth
