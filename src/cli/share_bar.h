// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "cli/terminal.h"

namespace hearth::cli {

// One part of a whole, drawn as a run of the same character.
struct Share {
  char sign = '#';
  Bytes bytes{};
  Paint paint = Paint::kPlain;
};

// All parts side by side, `cells` wide together. What has any bytes at all shows, however few they
// are, as long as there is a cell for each; nothing when all are empty.
std::string share_bar(const std::vector<Share>& parts, std::size_t cells, const OutputStyle& style);

}  // namespace hearth::cli
