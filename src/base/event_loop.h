// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/async.h"
#include "base/clock.h"

namespace hearth {

// The one thread that a process's coroutines run on. Everything but post() and stop() is called on
// that thread only. Two implementations: AsioEventLoop (event_loop_asio.h) for the real world, and
// SimEventLoop (sim_event_loop.h), whose time jumps to the next timer, for tests.
class EventLoop {
 public:
  using Callback = std::function<void()>;
  using TimerId = std::uint64_t;

  virtual ~EventLoop() = default;

  virtual TimePoint now() const = 0;

  // Runs `callback` on the loop soon, after what is running now. Thread-safe; callbacks posted by
  // one thread run in that order.
  virtual void post(Callback callback) = 0;

  // Runs `callback` on the loop at `when`, unless cancel() comes first. Ids are never reused.
  virtual TimerId call_at(TimePoint when, Callback callback) = 0;
  virtual void cancel(TimerId timer) = 0;

  // Calls `callback` once, when `fd` is readable, at end of file or in error. The descriptor stays
  // the caller's and must stay open until the callback begins or forget() was called. A second call
  // for the same descriptor replaces the first.
  virtual void when_readable(int fd, Callback callback) = 0;

  // The same for a descriptor that can take more bytes, or is in error.
  virtual void when_writable(int fd, Callback callback) = 0;
  virtual void forget(int fd) = 0;

  // Starts `task` now, up to its first suspension, and lets it own itself. An exception that
  // escapes it ends the process: a task that may fail returns Result.
  void spawn(Task<void> task);

  // co_await loop.sleep(50ms)
  auto sleep(Duration duration) {
    struct Awaiter {
      EventLoop& loop;
      Duration duration;
      bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<> handle) {
        loop.call_at(loop.now() + duration, [handle] { handle.resume(); });
      }
      void await_resume() const noexcept {}
    };
    return Awaiter{*this, duration};
  }

  // co_await loop.yield(): lets everything that is ready run first.
  auto yield() {
    struct Awaiter {
      EventLoop& loop;
      bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<> handle) {
        loop.post([handle] { handle.resume(); });
      }
      void await_resume() const noexcept {}
    };
    return Awaiter{*this};
  }

  // co_await loop.readable(fd)
  auto readable(int fd) {
    struct Awaiter {
      EventLoop& loop;
      int fd;
      bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<> handle) {
        loop.when_readable(fd, [handle] { handle.resume(); });
      }
      void await_resume() const noexcept {}
    };
    return Awaiter{*this, fd};
  }
};

}  // namespace hearth
