// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "base/bytes.h"

namespace hearth {

// How far a long operation has come, and the wish to end it early. Both may be called from any
// thread, often: an implementation neither blocks nor throws.
class Progress {
 public:
  virtual ~Progress() = default;
  virtual void report(Bytes done, Bytes total) = 0;
  virtual bool cancelled() const = 0;
};

// Written by a pool thread, read and cancelled by the loop.
class SharedProgress : public Progress {
 public:
  void report(Bytes done, Bytes total) override {
    total_.store(total.count(), std::memory_order_relaxed);
    done_.store(done.count(), std::memory_order_relaxed);
  }
  bool cancelled() const override { return cancelled_.load(std::memory_order_relaxed); }

  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  Bytes done() const { return Bytes{done_.load(std::memory_order_relaxed)}; }
  Bytes total() const { return Bytes{total_.load(std::memory_order_relaxed)}; }

 private:
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::uint64_t> total_{0};
  std::atomic<bool> cancelled_{false};
};

}  // namespace hearth
