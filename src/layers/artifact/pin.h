// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/bytes.h"

namespace hearth {

// A lower bound that a user set for one layer of a model's files, kept over restarts.
struct Pin {
  std::string layer;  // "weights", "pages"
  Bytes bytes;        // of the load set's pages; 0: all

  friend bool operator==(const Pin&, const Pin&) = default;
};

}  // namespace hearth
