// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace hearth::engine {

// What makes a computation that is under way give up within milliseconds. The engine asks from its
// compute thread before every operation.
struct AbortFlags {
  std::atomic<bool> stop{false};  // the process is to end

  // Weights that an evaluation waits for will not come.
  std::atomic<bool> no_weights{false};

  // Set by the one thread that computes, around a computation that serves a single request: that
  // request's own flag.
  std::atomic<const std::atomic<bool>*> cancelled{nullptr};

  // Counts how often the engine asked, if set: a long step that goes on is told from one that
  // hangs.
  std::atomic<std::uint64_t>* pulse = nullptr;

  // For the engine to ask.
  bool raised() const {
    if (pulse != nullptr) pulse->fetch_add(1, std::memory_order_relaxed);
    return set();
  }

  // For whoever waits for something else than the engine: not a sign of work.
  bool set() const {
    if (stop.load(std::memory_order_relaxed)) return true;
    if (no_weights.load(std::memory_order_relaxed)) return true;
    const std::atomic<bool>* flag = cancelled.load(std::memory_order_relaxed);
    return flag != nullptr && flag->load(std::memory_order_relaxed);
  }
};

}  // namespace hearth::engine
