// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "layers/artifact/artifact.h"

namespace hearth {

// One directory of another program, or a watched folder.
struct StoreRoot {
  Store store = Store::kFolder;
  std::string path;  // absolute

  friend auto operator<=>(const StoreRoot&, const StoreRoot&) = default;
};

// Where the stores of these names ("huggingface", "ollama", "lmstudio") lie for whoever has this
// environment, and the watched folders. Nothing is looked at: a root need not exist.
std::vector<StoreRoot> store_roots(const std::vector<std::string>& stores,
                                   const std::vector<std::string>& folders,
                                   const std::map<std::string, std::string>& environment);

}  // namespace hearth
