// SPDX-License-Identifier: Apache-2.0
#include "base/async.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "base/sim_event_loop.h"

namespace hearth {
namespace {

// Sanitizers keep frames that a tail call would have dropped.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kManyAwaits = 1'000;
#else
constexpr int kManyAwaits = 1'000'000;
#endif

Task<int> one() { co_return 1; }
Task<std::unique_ptr<std::string>> owned(std::string text) {
  co_return std::make_unique<std::string>(std::move(text));
}
Task<int> failing() {
  throw std::runtime_error{"no"};
  co_return 0;
}
Task<void> nothing() { co_return; }

Task<void> sum_up(int count, long* sum) {
  for (int i = 0; i < count; ++i) *sum += co_await one();
}

TEST(Task, GivesItsValue) {
  SimEventLoop loop;
  long sum = 0;
  loop.spawn(sum_up(3, &sum));
  EXPECT_EQ(sum, 3) << "a task that never waits ends inside spawn()";
}

TEST(Task, ManyAwaitsThatNeverSuspendNeedNoStack) {
  SimEventLoop loop;
  long sum = 0;
  loop.spawn(sum_up(kManyAwaits, &sum));
  EXPECT_EQ(sum, kManyAwaits);
}

Task<void> take_owned(std::string* into) {
  const std::unique_ptr<std::string> text = co_await owned(std::string(100, 'x'));
  *into = *text;
}

TEST(Task, GivesValuesThatOnlyMove) {
  SimEventLoop loop;
  std::string text;
  loop.spawn(take_owned(&text));
  EXPECT_EQ(text, std::string(100, 'x'));
}

Task<void> catch_it(std::string* message) {
  try {
    co_await failing();
  } catch (const std::runtime_error& error) {
    *message = error.what();
  }
}

TEST(Task, ThrowsIntoItsAwaiter) {
  SimEventLoop loop;
  std::string message;
  loop.spawn(catch_it(&message));
  EXPECT_EQ(message, "no");
}

Task<void> hold(std::shared_ptr<int> held) {
  ++*held;
  co_return;
}

TEST(Task, StartsOnlyWhenItIsAwaited) {
  const auto counter = std::make_shared<int>(0);
  {
    const Task<void> never = hold(counter);
    EXPECT_EQ(counter.use_count(), 2);
  }
  EXPECT_EQ(*counter, 0);
  EXPECT_EQ(counter.use_count(), 1) << "an unstarted task gives its arguments back";
}

TEST(Task, MovesWithItsFrame) {
  SimEventLoop loop;
  const auto counter = std::make_shared<int>(0);
  Task<void> first = hold(counter);
  Task<void> second = std::move(first);
  Task<void> third = nothing();
  third = std::move(second);
  loop.spawn(std::move(third));
  EXPECT_EQ(*counter, 1);
  EXPECT_EQ(counter.use_count(), 1);
}

}  // namespace
}  // namespace hearth
