// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace hearth::worker {

// What the heartbeat tells; written by whoever knows, read by the heartbeat's thread.
struct Gauges {
  std::atomic<std::uint64_t> steps{0};  // engine calls that have ended
  std::atomic<int> active{0};           // requests in hand
  std::atomic<int> live_tokens{0};
};

}  // namespace hearth::worker
