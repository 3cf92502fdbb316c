// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace hearth {

// What came of the traces of requests. All but `waiting` count from the server's start.
struct TraceFigures {
  std::uint64_t sent = 0;            // requests
  std::uint64_t dropped = 0;         // likewise: too many waited for a collector
  std::uint64_t refused = 0;         // likewise: the collector does not want them
  std::uint64_t rejected_spans = 0;  // of requests sent, which the collector did not take
  std::uint64_t failures = 0;        // attempts that will be made again
  std::int64_t waiting = 0;          // requests
};

}  // namespace hearth
