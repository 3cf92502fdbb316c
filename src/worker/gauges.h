// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace hearth::worker {

// What the heartbeat tells; written by whoever knows, read by the heartbeat's thread.
struct Gauges {
  std::atomic<std::uint64_t> steps{0};  // grows while the engine computes
  std::atomic<int> active{0};           // requests in hand
  std::atomic<int> live_tokens{0};
  std::atomic<int> threads{0};  // that evaluate, or would now
};

}  // namespace hearth::worker
