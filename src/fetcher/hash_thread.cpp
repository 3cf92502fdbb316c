// SPDX-License-Identifier: Apache-2.0
#include "fetcher/hash_thread.h"

#include <utility>

namespace hearth::fetcher {

using transfer::HashStep;

HashThread::HashThread(transfer::Download& download, std::function<void()> moved)
    : download_{download}, moved_{std::move(moved)}, thread_{[this] { run(); }} {}

void HashThread::stop() {
  stopped_ = true;
  download_.stop();
  if (thread_.joinable()) thread_.join();
}

void HashThread::run() {
  while (!stopped_) {
    const Result<HashStep> step = download_.hash_some();
    if (step && *step == HashStep::kWait) {
      download_.wait_for_bytes();
      continue;
    }
    const bool over = !step || *step == HashStep::kComplete;
    if (!step) result_ = Failed{step.error()};
    if (over) over_.store(true, std::memory_order_release);
    moved_();
    if (over) return;
  }
}

}  // namespace hearth::fetcher
