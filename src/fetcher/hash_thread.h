// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "base/result.h"
#include "transfer/download.h"

namespace hearth::fetcher {

// The hash's side of a download, on a thread of its own while this object lives.
class HashThread {
 public:
  // `moved` is called on that thread after each step, and must be safe there.
  HashThread(transfer::Download& download, std::function<void()> moved);
  // Returns after the step that is under way.
  ~HashThread() { stop(); }
  HashThread(const HashThread&) = delete;
  HashThread& operator=(const HashThread&) = delete;

  // Whether it is complete or has failed.
  bool over() const { return over_.load(std::memory_order_acquire); }
  void stop();
  // When over(): what became of it.
  const Result<>& result() const { return result_; }

 private:
  void run();

  transfer::Download& download_;
  const std::function<void()> moved_;
  Result<> result_;  // the thread's, until over_
  std::atomic<bool> over_{false};
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

}  // namespace hearth::fetcher
