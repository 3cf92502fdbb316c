// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace hearth {

// One memory that is divided among models, as it was last measured.
struct MemoryFigures {
  struct Part {
    std::string what{};   // of few fixed words: "weights", "kv", ...
    std::string model{};  // the catalogue's name; empty: nobody's in particular
    Bytes bytes{};
  };
  std::string memory{};          // "machine" or "devices"
  std::optional<Bytes> limit{};  // unset: not known yet
  Bytes promised{};              // to loads under way
  std::vector<Part> held{};      // a pair of what and model may come more than once
};

}  // namespace hearth
