// SPDX-License-Identifier: Apache-2.0
#include "base/event_loop.h"

#include <exception>

namespace hearth {
namespace {

// The frame that owns a spawned task: it destroys itself when it ends.
struct Detached {
  struct promise_type {
    Detached get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };
};

Detached run_detached(Task<void> task) { co_await std::move(task); }

}  // namespace

void EventLoop::spawn(Task<void> task) { run_detached(std::move(task)); }

}  // namespace hearth
