// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <unordered_map>

#include "base/event_loop.h"

namespace hearth {

// An event loop whose time is virtual: when nothing is ready it jumps to the next timer. A test
// that waits thirty seconds takes none, and the same inputs give the same order of events every
// time. Single-threaded: Pool jobs of a test run inline (see Pool::inline_on).
class SimEventLoop : public EventLoop {
 public:
  TimePoint now() const override { return clock_.now(); }
  const ManualClock& clock() const { return clock_; }

  void post(Callback callback) override { ready_.push_back(std::move(callback)); }

  TimerId call_at(TimePoint when, Callback callback) override {
    const TimerId id = next_id_++;
    timers_.emplace(std::pair{when, id}, std::move(callback));
    due_.emplace(id, when);
    return id;
  }

  void cancel(TimerId timer) override {
    const auto found = due_.find(timer);
    if (found == due_.end()) return;
    timers_.erase({found->second, timer});
    due_.erase(found);
  }

  void when_readable(int fd, Callback callback) override { waiting_[fd] = std::move(callback); }
  // A simulated descriptor always takes more.
  void when_writable(int, Callback callback) override { post(std::move(callback)); }
  void forget(int fd) override { waiting_.erase(fd); }

  // A test's way to say that bytes arrived.
  void make_readable(int fd) {
    const auto found = waiting_.find(fd);
    if (found == waiting_.end()) return;
    post(std::move(found->second));
    waiting_.erase(found);
  }

  // Runs what is ready now, without moving time.
  void run_ready() {
    while (!ready_.empty()) {
      Callback next = std::move(ready_.front());
      ready_.pop_front();
      next();
    }
  }

  // Runs until nothing is ready and no timer is due within `limit` from now; time ends at that
  // limit.
  void run_for(Duration limit) {
    const TimePoint end = now() + limit;
    run_ready();
    while (!timers_.empty() && timers_.begin()->first.first <= end) {
      const auto first = timers_.begin();
      const auto [when, id] = first->first;
      Callback callback = std::move(first->second);
      timers_.erase(first);
      due_.erase(id);
      if (when > now()) clock_.advance(when - now());
      callback();
      run_ready();
    }
    if (end > now()) clock_.advance(end - now());
  }

 private:
  ManualClock clock_;
  std::deque<Callback> ready_;
  std::map<std::pair<TimePoint, TimerId>, Callback> timers_;
  std::unordered_map<TimerId, TimePoint> due_;
  std::unordered_map<int, Callback> waiting_;
  TimerId next_id_ = 1;
};

}  // namespace hearth
