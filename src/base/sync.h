// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <coroutine>
#include <deque>
#include <list>
#include <optional>
#include <utility>

#include "base/async.h"
#include "base/event_loop.h"

namespace hearth {

// A condition variable for coroutines of one loop. A waiter is resumed by a posted callback, never
// from inside notify_all(), so the notifier's own state is settled when waiters run. As with any
// condition variable, check the condition again after waiting.
class Notify {
 public:
  explicit Notify(EventLoop& loop) : loop_{loop} {}
  Notify(const Notify&) = delete;
  Notify& operator=(const Notify&) = delete;
  ~Notify() { assert(waiters_.empty()); }

  void notify_all() {
    std::list<Waiter*> woken = std::exchange(waiters_, {});
    for (Waiter* waiter : woken) wake(*waiter, Outcome::kNotified);
  }

  // co_await wait() / co_await wait_until(t), which is false when the time passed first.
  auto wait() { return Waiter{*this, std::nullopt}; }
  auto wait_until(TimePoint deadline) { return Waiter{*this, deadline}; }

 private:
  enum class Outcome { kNotified, kTimedOut };

  struct Waiter {
    Notify& owner;
    std::optional<TimePoint> deadline;
    std::coroutine_handle<> handle{};
    EventLoop::TimerId timer = 0;
    Outcome outcome = Outcome::kNotified;

    Waiter(Notify& o, std::optional<TimePoint> d) : owner{o}, deadline{d} {}
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) {
      handle = h;
      owner.waiters_.push_back(this);
      if (!deadline) return;
      timer = owner.loop_.call_at(*deadline, [this] {
        timer = 0;
        owner.waiters_.remove(this);
        outcome = Outcome::kTimedOut;
        handle.resume();
      });
    }
    bool await_resume() const noexcept { return outcome == Outcome::kNotified; }
  };

  void wake(Waiter& waiter, Outcome outcome) {
    if (waiter.timer != 0) loop_.cancel(std::exchange(waiter.timer, 0));
    waiter.outcome = outcome;
    loop_.post([handle = waiter.handle] { handle.resume(); });
  }

  EventLoop& loop_;
  std::list<Waiter*> waiters_;
};

// An unbounded queue between coroutines of one loop; what bounds it is the sender's protocol. One
// receiver at a time.
template <class T>
class Mailbox {
 public:
  explicit Mailbox(EventLoop& loop) : arrived_{loop} {}

  // Made in place: g++ 12 takes the moved-from temporary of a variant for an uninitialized one.
  template <class U = T>
  void push(U&& item) {
    if (closed_) return;
    items_.emplace_back(std::forward<U>(item));
    arrived_.notify_all();
  }

  // What was pushed before is still received; then pop() gives nullopt.
  void close() {
    closed_ = true;
    arrived_.notify_all();
  }

  Task<std::optional<T>> pop() {
    while (items_.empty() && !closed_) co_await arrived_.wait();
    co_return take();
  }

  // nullopt when the time passed (timed_out) or the box is closed and empty.
  Task<std::optional<T>> pop_until(TimePoint deadline) {
    bool in_time = true;
    while (in_time && items_.empty() && !closed_) in_time = co_await arrived_.wait_until(deadline);
    co_return take();
  }

  // Forgets what has not been received yet.
  void clear() { items_.clear(); }

  bool closed() const { return closed_; }
  std::size_t size() const { return items_.size(); }

 private:
  std::optional<T> take() {
    if (items_.empty()) return std::nullopt;
    std::optional<T> item{std::move(items_.front())};
    items_.pop_front();
    return item;
  }

  Notify arrived_;
  std::deque<T> items_;
  bool closed_ = false;
};

// Counts operations in flight; close() refuses new ones and returns when the last one has left.
class Gate {
 public:
  explicit Gate(EventLoop& loop) : changed_{loop} {}

  // Moves with the operation it stands for.
  class Pass {
   public:
    explicit Pass(Gate* gate) : gate_{gate} {}
    Pass(Pass&& other) noexcept : gate_{std::exchange(other.gate_, nullptr)} {}
    Pass& operator=(Pass&&) = delete;
    ~Pass() {
      if (gate_ != nullptr) gate_->leave();
    }

   private:
    Gate* gate_;
  };

  // nullopt once closed.
  std::optional<Pass> enter() {
    if (closed_) return std::nullopt;
    ++inside_;
    return std::optional<Pass>{std::in_place, this};
  }

  Task<void> close() {
    closed_ = true;
    while (inside_ > 0) co_await changed_.wait();
  }

  // False when some operation was still inside at `deadline`.
  Task<bool> close_until(TimePoint deadline) {
    closed_ = true;
    bool in_time = true;
    while (in_time && inside_ > 0) in_time = co_await changed_.wait_until(deadline);
    co_return inside_ == 0;
  }

  bool closed() const { return closed_; }
  int inside() const { return inside_; }

 private:
  void leave() {
    --inside_;
    changed_.notify_all();
  }

  Notify changed_;
  int inside_ = 0;
  bool closed_ = false;
};

}  // namespace hearth
