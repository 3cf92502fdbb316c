// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "layers/artifact/found/look.h"

namespace hearth::found {

// The files of one model as their names say: one, or a whole set of shards in order.
struct FileGroup {
  std::string stem;               // relative, without ".gguf" and shard number
  std::vector<SeenFile> files;    // as they were seen
  std::vector<std::string> real;  // their real paths

  std::string file_stem() const { return stem.substr(stem.find_last_of('/') + 1); }
};

// Sorts files by model. Companions are left out, and so are models of which a file is still being
// written; sets that are not whole are a problem.
std::vector<FileGroup> group_files(Look& look, std::vector<SeenFile> files);

}  // namespace hearth::found
