// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>

#include "base/result.h"
#include "base/sync.h"

namespace hearth::front {

// Who may be in a model's worker at once, and who waits: first come, first served, bounded. While
// it is paused nobody is let in (an unload drains that way). Belongs to the loop.
class Admission {
 public:
  Admission(EventLoop& loop, int parallel, int queue_limit)
      : changed_{loop}, parallel_{parallel}, queue_limit_{queue_limit} {}

  // The right to be in the worker; gives the place to the next in line when it goes.
  class Place {
   public:
    explicit Place(Admission* admission) : admission_{admission} {}
    Place(Place&& other) noexcept : admission_{std::exchange(other.admission_, nullptr)} {}
    Place& operator=(Place&& other) noexcept {
      std::swap(admission_, other.admission_);
      return *this;
    }
    ~Place() {
      if (admission_ != nullptr) admission_->leave();
    }

   private:
    Admission* admission_;
  };

  // Errors: kBusy when the queue is full; kCancelled once *cancelled is true (looked at after every
  // change and poke()).
  // `on_wait`, where there is one, is told how many are before, whenever that may have changed.
  Task<Result<Place>> enter(const bool* cancelled, std::function<void(int ahead)> on_wait = {});

  // Lets cancelled waiters notice.
  void poke() { changed_.notify_all(); }

  void pause() { ++paused_; }
  void resume() {
    --paused_;
    changed_.notify_all();
  }
  // Returns with the next change, or at `until`.
  Task<void> change(TimePoint until);
  // Returns when nobody is inside; pause() first.
  Task<void> drained();

  int places() const { return parallel_; }
  int active() const { return active_; }
  int waiting() const { return static_cast<int>(line_.size()); }
  int queue_limit() const { return queue_limit_; }
  // Who was in and has left, since the beginning.
  std::uint64_t left() const { return left_; }

 private:
  bool may_enter(std::uint64_t ticket) const {
    return paused_ == 0 && active_ < parallel_ && line_.front() == ticket;
  }
  void leave() {
    --active_;
    ++left_;
    changed_.notify_all();
  }

  Notify changed_;
  const int parallel_;
  const int queue_limit_;
  int active_ = 0;
  int paused_ = 0;
  std::uint64_t next_ticket_ = 1;
  std::uint64_t left_ = 0;
  std::deque<std::uint64_t> line_;
};

}  // namespace hearth::front
