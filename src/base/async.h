// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace hearth {

// A lazy coroutine that yields one T. It starts when it is awaited (or handed to EventLoop::spawn),
// runs on the thread that resumes it and resumes its awaiter directly when it ends.
//
// Ownership: the Task object owns the frame; destroying a task that has not started is fine,
// destroying one that is suspended in the middle is a bug of the caller (whatever it waits for
// would resume a dead frame). Spawned tasks own themselves. Not thread-safe: a frame belongs to one
// loop.
//
// House rules for g++ 12 (each has cost somebody a week): no capturing lambda coroutine; no braced
// temporary inside a co_await expression; no lock held across co_await; no co_await in the
// condition of an if, a loop or a switch: name its result first. (GCC bug 106188: where the body
// has no local variable at its top level the frame is laid out wrongly, and the coroutine silently
// never runs.)
template <class T = void>
class [[nodiscard]] Task;

namespace detail {

template <class Promise>
struct ResumeAwaiter {
  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> done) const noexcept {
    return done.promise().continuation;
  }
  void await_resume() const noexcept {}
};

template <class Derived>
struct PromiseBase {
  std::coroutine_handle<> continuation = std::noop_coroutine();
  std::exception_ptr exception;

  std::suspend_always initial_suspend() const noexcept { return {}; }
  ResumeAwaiter<Derived> final_suspend() const noexcept { return {}; }
  void unhandled_exception() { exception = std::current_exception(); }
};

template <class T>
struct Promise : PromiseBase<Promise<T>> {
  std::optional<T> value;
  Task<T> get_return_object();
  template <class U>
  void return_value(U&& v) {
    value.emplace(std::forward<U>(v));
  }
  T take() { return std::move(*value); }
};

template <>
struct Promise<void> : PromiseBase<Promise<void>> {
  Task<void> get_return_object();
  void return_void() const noexcept {}
  void take() const noexcept {}
};

}  // namespace detail

template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::Promise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  explicit Task(Handle handle) : handle_{handle} {}
  Task(Task&& other) noexcept : handle_{std::exchange(other.handle_, {})} {}
  Task& operator=(Task&& other) noexcept {
    Task moved{std::move(other)};
    std::swap(handle_, moved.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  auto operator co_await() && noexcept {
    struct Awaiter {
      Handle handle;
      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) noexcept {
        handle.promise().continuation = awaiting;
        return handle;
      }
      T await_resume() {
        if (handle.promise().exception) std::rethrow_exception(handle.promise().exception);
        return handle.promise().take();
      }
    };
    return Awaiter{handle_};
  }

 private:
  Handle handle_;
};

namespace detail {

template <class T>
Task<T> Promise<T>::get_return_object() {
  return Task<T>{std::coroutine_handle<Promise<T>>::from_promise(*this)};
}
inline Task<void> Promise<void>::get_return_object() {
  return Task<void>{std::coroutine_handle<Promise<void>>::from_promise(*this)};
}

}  // namespace detail
}  // namespace hearth
