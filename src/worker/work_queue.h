// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "base/clock.h"

namespace hearth::worker {

// A queue between two threads. Thread-safe.
template <class T>
class WorkQueue {
 public:
  void push(T item) {
    {
      std::lock_guard lock{mutex_};
      items_.push_back(std::move(item));
    }
    changed_.notify_one();
  }

  // What was pushed before is not handed out any more.
  void close() {
    {
      std::lock_guard lock{mutex_};
      closed_ = true;
    }
    changed_.notify_all();
  }

  // Waits. nullopt: closed.
  std::optional<T> pop() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return closed_ || !items_.empty(); });
    return take();
  }

  // Waits, but not beyond `until`. nullopt: nothing came, or closed.
  std::optional<T> pop_until(TimePoint until) {
    std::unique_lock lock{mutex_};
    changed_.wait_until(lock, until, [this] { return closed_ || !items_.empty(); });
    return take();
  }

  // nullopt: nothing there, or closed.
  std::optional<T> try_pop() {
    std::lock_guard lock{mutex_};
    return take();
  }

 private:
  std::optional<T> take() {
    if (closed_ || items_.empty()) return std::nullopt;
    std::optional<T> item{std::move(items_.front())};
    items_.pop_front();
    return item;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> items_;
  bool closed_ = false;
};

}  // namespace hearth::worker
