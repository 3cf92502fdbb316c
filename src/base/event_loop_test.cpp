// SPDX-License-Identifier: Apache-2.0
#include "base/event_loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "base/event_loop_asio.h"
#include "base/fd.h"
#include "base/sim_event_loop.h"

namespace hearth {
namespace {

using namespace std::chrono_literals;

// What the two loops do not share: how a test runs them until finish().
class RunnableSim : public SimEventLoop {
 public:
  void run_to_end() { run_for(1h); }
  void finish() {}
};
class RunnableAsio : public AsioEventLoop {
 public:
  void run_to_end() { run(); }
  void finish() { stop(); }
};

template <class Loop>
class EventLoopContract : public testing::Test {
 protected:
  Loop loop_;
  std::string seen_;
};
using Loops = testing::Types<RunnableSim, RunnableAsio>;
TYPED_TEST_SUITE(EventLoopContract, Loops);

TYPED_TEST(EventLoopContract, RunsPostedCallbacksInOrder) {
  this->loop_.post([this] {
    this->seen_ += 'a';
    this->loop_.post([this] { this->seen_ += 'c'; });
    this->loop_.post([this] { this->loop_.finish(); });
  });
  this->loop_.post([this] { this->seen_ += 'b'; });
  EXPECT_EQ(this->seen_, "") << "nothing runs inside post()";
  this->loop_.run_to_end();
  EXPECT_EQ(this->seen_, "abc");
}

TYPED_TEST(EventLoopContract, RunsTimersInTheOrderOfTheirTimes) {
  const TimePoint start = this->loop_.now();
  this->loop_.call_at(start + 3ms, [this, start] {
    this->seen_ += 'c';
    EXPECT_GE(this->loop_.now(), start + 3ms);
    this->loop_.finish();
  });
  this->loop_.call_at(start + 2ms, [this] { this->seen_ += 'b'; });
  this->loop_.call_at(start - 1s, [this] { this->seen_ += 'a'; });
  this->loop_.run_to_end();
  EXPECT_EQ(this->seen_, "abc");
}

TYPED_TEST(EventLoopContract, CancelledTimerDoesNotRun) {
  const TimePoint start = this->loop_.now();
  const auto early = this->loop_.call_at(start + 1ms, [this] { this->seen_ += 'x'; });
  // Two of the same time: whichever comes first cancels the other, which is then due already.
  EventLoop::TimerId one = 0;
  EventLoop::TimerId other = 0;
  one = this->loop_.call_at(start + 2ms, [&] {
    this->seen_ += 'a';
    this->loop_.cancel(other);
  });
  other = this->loop_.call_at(start + 2ms, [&] {
    this->seen_ += 'a';
    this->loop_.cancel(one);
  });
  this->loop_.call_at(start + 3ms, [this] { this->loop_.finish(); });
  this->loop_.cancel(early);
  this->loop_.cancel(early);
  this->loop_.cancel(12345);
  this->loop_.run_to_end();
  EXPECT_EQ(this->seen_, "a");
}

Task<void> sleep_and_yield(EventLoop* loop, std::string* seen) {
  *seen += 'a';
  co_await loop->sleep(1ms);
  *seen += 'b';
  co_await loop->yield();
  *seen += 'c';
}
template <class Loop>
Task<void> finish_after(Loop* loop, Task<void> task) {
  co_await std::move(task);
  loop->finish();
}

TYPED_TEST(EventLoopContract, TasksSleepAndYield) {
  Task<void> task = sleep_and_yield(&this->loop_, &this->seen_);
  this->loop_.spawn(finish_after(&this->loop_, std::move(task)));
  EXPECT_EQ(this->seen_, "a") << "spawn() runs up to the first suspension";
  this->loop_.run_to_end();
  EXPECT_EQ(this->seen_, "abc");
}

struct Pipe {
  Fd read;
  Fd write;
};
Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return {};
  return {Fd{ends[0]}, Fd{ends[1]}};
}

class AsioLoop : public testing::Test {
 protected:
  // Ends a loop that waits for what never comes, so that the test fails instead of hanging.
  void run() {
    const auto guard = loop_.call_at(loop_.now() + 20s, [this] {
      ADD_FAILURE() << "nothing happened";
      loop_.stop();
    });
    loop_.run();
    loop_.cancel(guard);
  }
  AsioEventLoop loop_;
};

TEST_F(AsioLoop, SaysWhenADescriptorIsReadable) {
  const Pipe pipe = make_pipe();
  int calls = 0;
  loop_.when_readable(pipe.read.get(), [&] {
    ++calls;
    loop_.stop();
  });
  loop_.post([&] { ASSERT_EQ(::write(pipe.write.get(), "x", 1), 1); });
  run();
  EXPECT_EQ(calls, 1);
}

TEST_F(AsioLoop, EndOfFileIsReadableToo) {
  Pipe pipe = make_pipe();
  loop_.when_readable(pipe.read.get(), [&] { loop_.stop(); });
  pipe.write.reset();
  run();
  char byte = 0;
  EXPECT_EQ(::read(pipe.read.get(), &byte, 1), 0) << "the descriptor is still open";
}

TEST_F(AsioLoop, DescriptorMayBeClosedInItsCallbackAndItsNumberUsedAgain) {
  Pipe pipe = make_pipe();
  const int number = pipe.read.get();
  ASSERT_EQ(::write(pipe.write.get(), "x", 1), 1);
  loop_.when_readable(number, [&] {
    pipe = Pipe{};
    pipe = make_pipe();
    ASSERT_EQ(pipe.read.get(), number) << "the kernel gives out the lowest free number";
    ASSERT_EQ(::write(pipe.write.get(), "y", 1), 1);
    loop_.when_readable(number, [&] { loop_.stop(); });
  });
  run();
}

TEST_F(AsioLoop, OneDescriptorWaitsForBothWays) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const Fd near{ends[0]};
  const Fd far{ends[1]};
  std::string seen;
  loop_.when_readable(near.get(), [&] {
    seen += 'r';
    loop_.stop();
  });
  loop_.when_writable(near.get(), [&] {
    seen += 'w';
    EXPECT_EQ(::write(far.get(), "x", 1), 1);
  });
  run();
  EXPECT_EQ(seen, "wr");
}

TEST_F(AsioLoop, LaterWaitReplacesTheFirst) {
  const Pipe pipe = make_pipe();
  std::string seen;
  loop_.when_readable(pipe.read.get(), [&] { seen += 'a'; });
  loop_.when_readable(pipe.read.get(), [&] {
    seen += 'b';
    loop_.post([&] { loop_.stop(); });
  });
  ASSERT_EQ(::write(pipe.write.get(), "x", 1), 1);
  run();
  EXPECT_EQ(seen, "b");
}

TEST_F(AsioLoop, ForgottenDescriptorIsSilentEvenWhenItWasReady) {
  const Pipe first = make_pipe();
  const Pipe second = make_pipe();
  int calls = 0;
  // Both are ready in one turn of the loop; whichever runs first forgets the other.
  loop_.when_readable(first.read.get(), [&] {
    ++calls;
    loop_.forget(second.read.get());
  });
  loop_.when_readable(second.read.get(), [&] {
    ++calls;
    loop_.forget(first.read.get());
  });
  ASSERT_EQ(::write(first.write.get(), "x", 1), 1);
  ASSERT_EQ(::write(second.write.get(), "x", 1), 1);
  loop_.call_at(loop_.now() + 5ms, [&] { loop_.stop(); });
  run();
  EXPECT_EQ(calls, 1);
}

TEST_F(AsioLoop, PostWorksFromOtherThreads) {
  std::string seen;
  std::thread other{[&] {
    for (char c = 'a'; c <= 'e'; ++c) loop_.post([&seen, c] { seen += c; });
    loop_.post([&] { loop_.stop(); });
  }};
  run();
  other.join();
  EXPECT_EQ(seen, "abcde");
}

TEST_F(AsioLoop, ReportsSignalsEachTime) {
  int seen = 0;
  loop_.on_signals({SIGUSR1}, [&](int signal) {
    EXPECT_EQ(signal, SIGUSR1);
    if (++seen == 2) return loop_.stop();
    ::kill(::getpid(), SIGUSR1);
  });
  loop_.post([] { ::kill(::getpid(), SIGUSR1); });
  run();
  EXPECT_EQ(seen, 2);
}

TEST(SimLoop, TimeJumpsToTimersAndEndsAtTheLimit) {
  SimEventLoop loop;
  const TimePoint start = loop.now();
  int calls = 0;
  loop.call_at(start + 24h, [&] { ++calls; });
  loop.run_for(23h);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(loop.now(), start + 23h);
  loop.run_for(1h);
  EXPECT_EQ(calls, 1);
}

TEST(SimLoop, TestSaysWhenADescriptorIsReadable) {
  SimEventLoop loop;
  int calls = 0;
  loop.when_readable(5, [&] { ++calls; });
  loop.when_readable(6, [&] { ++calls; });
  loop.forget(6);
  loop.make_readable(5);
  loop.make_readable(5);
  loop.make_readable(6);
  loop.run_ready();
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace hearth
