// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sstream>
#include <string>

#include "base/text.h"

namespace hearth::lab {

// The file behind a model of Ollama's: what the first FROM with an absolute path names in the
// Modelfile that /api/show tells. Empty: none does.
inline std::string file_in_modelfile(const std::string& modelfile) {
  std::istringstream lines{modelfile};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("FROM /")) return std::string{trimmed(line.substr(5), " \r\"")};
  }
  return {};
}

}  // namespace hearth::lab
