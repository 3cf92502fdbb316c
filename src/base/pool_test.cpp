// SPDX-License-Identifier: Apache-2.0
#include "base/pool.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "base/event_loop_asio.h"
#include "base/sim_event_loop.h"

namespace hearth {
namespace {

struct Seen {
  std::thread::id job;
  std::thread::id after;
  std::string value;
};

Task<void> run_one(Pool* pool, AsioEventLoop* loop, Seen* seen) {
  const std::string argument(100, 'x');
  const auto job = [argument, seen] {
    seen->job = std::this_thread::get_id();
    return std::make_unique<std::string>(argument + "y");
  };
  const std::unique_ptr<std::string> made = co_await pool->run(*loop, job);
  seen->value = *made;
  seen->after = std::this_thread::get_id();
  loop->stop();
}

TEST(Pool, ResultComesBackOnTheLoopsThread) {
  AsioEventLoop loop;
  Pool pool{"test", 2};
  Seen seen;
  loop.spawn(run_one(&pool, &loop, &seen));
  loop.run();
  EXPECT_EQ(seen.value, std::string(100, 'x') + "y");
  EXPECT_EQ(seen.after, std::this_thread::get_id());
  EXPECT_NE(seen.job, seen.after);
}

TEST(Pool, OneThreadKeepsTheOrder) {
  std::string seen;
  {
    Pool pool{"test", 1};
    for (char c = 'a'; c <= 'z'; ++c) pool.submit([&seen, c] { seen += c; });
  }
  EXPECT_EQ(seen, "abcdefghijklmnopqrstuvwxyz") << "the destructor finishes what was submitted";
}

TEST(Pool, TwoThreadsWorkAtOnce) {
  std::promise<void> first;
  std::promise<void> second;
  {
    Pool pool{"a name longer than Linux keeps", 2};
    // Each waits for the other: one thread alone would never end.
    pool.submit([&] {
      first.set_value();
      second.get_future().wait();
    });
    pool.submit([&] {
      second.set_value();
      first.get_future().wait();
    });
  }
}

TEST(Pool, IdleThreadsTakeWhatIsLeft) {
  std::promise<int> policy;
  Pool pool{"idle", 1, Pool::Priority::kIdle};
  pool.submit([&] {
    int found = -1;
    sched_param unused{};
    ::pthread_getschedparam(::pthread_self(), &found, &unused);
    policy.set_value(found);
  });
  EXPECT_EQ(policy.get_future().get(), SCHED_IDLE);
}

Task<void> run_inline(Pool* pool, EventLoop* loop, std::string* seen) {
  const auto nothing = [seen] { *seen += 'a'; };
  co_await pool->run(*loop, nothing);
  const auto number = [] { return 7; };
  *seen += std::to_string(co_await pool->run(*loop, number));
}

TEST(Pool, InlinePoolWorksOnASimulatedLoop) {
  SimEventLoop loop;
  Pool pool = Pool::inline_for_tests();
  std::string seen;
  loop.spawn(run_inline(&pool, &loop, &seen));
  EXPECT_EQ(seen, "a") << "the job ran at once, its awaiter goes on from the loop";
  loop.run_ready();
  EXPECT_EQ(seen, "a7");
}

}  // namespace
}  // namespace hearth
