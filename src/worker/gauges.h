// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "wire/messages.h"

namespace hearth::worker {

// What the heartbeat tells; written by whoever knows, read by the heartbeat's thread.
struct Gauges {
  std::atomic<std::uint64_t> steps{0};  // grows while the engine computes
  std::atomic<int> active{0};           // requests in hand
  std::atomic<int> live_tokens{0};
  std::atomic<int> threads{0};  // that evaluate, or would now

  using Slots = std::vector<wire::HeartbeatMessage::Slot>;
  void set_slots(Slots slots) {
    const std::lock_guard lock{mutex_};
    slots_ = std::move(slots);
  }
  Slots slots() const {
    const std::lock_guard lock{mutex_};
    return slots_;
  }

 private:
  mutable std::mutex mutex_;
  Slots slots_;
};

}  // namespace hearth::worker
