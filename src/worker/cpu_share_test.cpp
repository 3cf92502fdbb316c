// SPDX-License-Identifier: Apache-2.0
#include "worker/cpu_share.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>

#include <thread>

#include "worker/idle_priority.h"

namespace hearth::worker {
namespace {

using namespace std::chrono_literals;

class CpuShares : public testing::Test {
 protected:
  enum class Repeats { kAnyhow, kExactly };
  void configure(Repeats repeats) {
    wire::LoadOptions options;
    options.threads = 2;
    options.exact = repeats == Repeats::kExactly;
    share_.configure(options);
  }
  void SetUp() override {
    if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one CPU";
  }
  // This thread computes, so it is the one that may have become idle.
  void TearDown() override {
    share_.give_way({0, 100});
    share_.before_step(threads_, StepKind::kTokens);
  }
  int step() {
    share_.before_step(threads_, StepKind::kTokens);
    EXPECT_EQ(gauges_.threads, threads_.count());
    return threads_.count();
  }

  Gauges gauges_;
  CpuShare share_{gauges_};
  engine::CpuThreads threads_{2};
};

TEST_F(CpuShares, GivesThreadsFromTheNextStepOn) {
  configure(Repeats::kAnyhow);
  share_.give_way({1, 100});
  EXPECT_EQ(step(), 1);
  share_.look();
  EXPECT_EQ(gauges_.threads, 1);
  EXPECT_FALSE(share_.rests());
}

TEST_F(CpuShares, MoreThreadsThanThereAreAreNoBound) {
  configure(Repeats::kAnyhow);
  share_.give_way({1, 100});
  step();
  share_.give_way({64, 100});
  EXPECT_LE(step(), 2);
  share_.give_way({0, 100});
  EXPECT_LE(step(), 2);
}

TEST_F(CpuShares, ExactComputationsKeepTheirThreadsAndRest) {
  configure(Repeats::kExactly);
  share_.give_way({1, 50});
  EXPECT_EQ(step(), 2);
  EXPECT_TRUE(share_.rests());
  const TimePoint end = Clock::real().now();
  share_.worked(end - 1s, end);
  EXPECT_EQ(share_.rest_until(), end + 1s);
}

// Of this thread, which computes.
int scheduling_class() { return ::sched_getscheduler(0); }
int priority() { return ::getpriority(PRIO_PROCESS, 0); }

TEST_F(CpuShares, GoesBehindOthersAndBack) {
  if (!may_come_back()) GTEST_SKIP() << "no way back from SCHED_IDLE without privilege";
  configure(Repeats::kAnyhow);
  const int before = priority();
  share_.give_way({0, 100, true});
  step();
  EXPECT_EQ(scheduling_class(), SCHED_IDLE);
  EXPECT_EQ(priority(), before) << "it is no work of low priority";
  share_.give_way({1, 100, true});
  step();
  EXPECT_EQ(scheduling_class(), SCHED_IDLE);
  EXPECT_GT(priority(), before);
  share_.give_way({0, 100});
  step();
  EXPECT_EQ(scheduling_class(), SCHED_OTHER);
  EXPECT_EQ(priority(), before);
}

TEST_F(CpuShares, ExactComputationsDoNotGoBehindForTheySeeNoNeighbours) {
  configure(Repeats::kExactly);
  share_.give_way({0, 100, true});
  step();
  EXPECT_EQ(scheduling_class(), SCHED_OTHER);
}

TEST_F(CpuShares, RestsOnlyWhenAskedTo) {
  configure(Repeats::kAnyhow);
  const TimePoint end = Clock::real().now();
  share_.worked(end - 1s, end);
  EXPECT_LE(share_.rest_until(), end);
}

}  // namespace
}  // namespace hearth::worker
