// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "transfer/download.h"

namespace hearth::transfer {

// A range under way. Until its position, everything came or was here already.
struct Download::Transit {
  std::uint64_t position = 0;
  std::optional<std::uint64_t> end;
  bool stream = false;

  bool over() const { return end && position >= *end; }
};

}  // namespace hearth::transfer
