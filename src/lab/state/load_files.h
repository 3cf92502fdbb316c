// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lab/target/target.h"

namespace hearth::lab {

// What a load of the target's model reads: the files whose pages make a state.
inline std::vector<std::string> load_files(const Target& target) {
  Target::Paths paths = target.paths();
  std::vector<std::string> files = std::move(paths.model);
  files.insert(files.end(), paths.compiled.begin(), paths.compiled.end());
  return files;
}

}  // namespace hearth::lab
