// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace hearth::engine {

// What makes a computation that is under way give up within milliseconds. The engine asks from its
// compute thread before every operation.
struct AbortFlags {
  std::atomic<bool> stop{false};  // the process is to end

  // Set by the one thread that computes, around a computation that serves a single request: that
  // request's own flag.
  std::atomic<const std::atomic<bool>*> cancelled{nullptr};

  bool raised() const {
    if (stop.load(std::memory_order_relaxed)) return true;
    const std::atomic<bool>* flag = cancelled.load(std::memory_order_relaxed);
    return flag != nullptr && flag->load(std::memory_order_relaxed);
  }
};

}  // namespace hearth::engine
