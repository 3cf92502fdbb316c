// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <coroutine>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "base/event_loop.h"

namespace hearth {

// Threads for what may block: disk, hashing, SQLite. run() is awaited on a loop; the job runs on a
// pool thread and the awaiter is resumed back on its loop. A pool of one thread runs its jobs in
// the order in which they were submitted, so one SQLite connection can belong to it.
//
// Thread-safe. The destructor finishes the jobs that were submitted, then joins; the loop must
// still be there by then.
class Pool {
 public:
  // kIdle: for work that nobody waits for. Its threads get what is left of processors and disks.
  enum class Priority { kNormal, kIdle };

  Pool(std::string name, int threads, Priority priority = Priority::kNormal);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // A pool without threads: each job runs inside run(), for tests on a SimEventLoop.
  static Pool inline_for_tests() { return Pool{}; }

  // auto size = co_await pool.run(loop, [path] { return scan(path); });
  // The job owns what it captures. Its exceptions end the process: return Result instead.
  template <class Job, class R = std::invoke_result_t<Job>>
  auto run(EventLoop& loop, Job job) {
    struct Awaiter {
      Pool& pool;
      EventLoop& loop;
      Job job;
      std::optional<std::conditional_t<std::is_void_v<R>, char, R>> value{};

      bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<> handle) {
        pool.submit([this, handle] {
          if constexpr (std::is_void_v<R>) {
            job();
            value.emplace(0);
          } else {
            value.emplace(job());
          }
          loop.post([handle] { handle.resume(); });
        });
      }
      R await_resume() {
        if constexpr (!std::is_void_v<R>) return std::move(*value);
      }
    };
    return Awaiter{*this, loop, std::move(job)};
  }

  // Fire and forget.
  void submit(std::function<void()> job);

 private:
  Pool() = default;
  void work(Priority priority);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace hearth
