// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace hearth {

// What is kept of prompts beyond live cells, of all models together. What counts events counts from
// the server's start.
struct PrefixFigures {
  struct Tier {
    Bytes bytes{};
    std::int64_t blocks = 0;
    std::uint64_t evicted = 0;    // blocks
    double bytes_per_second = 0;  // of the last restores; 0: not measured
  };
  Tier memory{};
  Tier disk{};
  std::vector<std::pair<std::string, std::uint64_t>> refused{};  // blocks, by reason
  double saved_seconds = 0;                                      // of prefill
  Bytes written_today{};  // to disk; begins anew each day, and goes on over a restart
};

}  // namespace hearth
