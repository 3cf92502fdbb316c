// SPDX-License-Identifier: Apache-2.0
#include "worker/give_way.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace hearth::worker {
namespace {

using namespace std::chrono_literals;

double seconds_of(Duration time) { return milliseconds_of(time) / 1e3; }

// Steps that begin as soon as they may.
class Worked {
 public:
  explicit Worked(int percent) { cycle.set_percent(percent); }

  // How long it rested before it.
  Duration step(Duration takes) {
    const TimePoint begin = std::max(now, cycle.rest_until());
    const Duration rested = begin - now;
    now = begin + takes;
    cycle.worked(begin, now);
    worked += takes;
    return rested;
  }

  ManualClock clock;
  TimePoint now = clock.now();
  Duration worked{};
  DutyCycle cycle;
};

struct ShareCase {
  int percent;
  Duration takes;
};
class Shares : public testing::TestWithParam<ShareCase> {};
TEST_P(Shares, AreNotExceeded) {
  Worked work{GetParam().percent};
  const TimePoint begin = work.now;
  EXPECT_EQ(work.step(GetParam().takes), 0s) << "the first comes at once";
  for (int i = 0; i < 1000; ++i) work.step(GetParam().takes);
  const double share = seconds_of(work.worked) / seconds_of(work.now - begin);
  EXPECT_NEAR(share, GetParam().percent / 100.0, 0.005);
}
INSTANTIATE_TEST_SUITE_P(Cases, Shares,
                         testing::Values(ShareCase{100, 50ms}, ShareCase{50, 50ms},
                                         ShareCase{25, 250ms}, ShareCase{25, 3s},
                                         ShareCase{1, 90ms}, ShareCase{99, 1s}));

TEST(DutyCycle, AStepAlwaysComes) {
  Worked work{1};
  for (int i = 0; i < 20; ++i) EXPECT_LE(work.step(60s), 10s + 1ms);
}

TEST(DutyCycle, TimeWithoutWorkIsRest) {
  Worked work{25};
  work.step(1s);
  work.now += 2s;
  EXPECT_NEAR(seconds_of(work.step(1s)), 1.0, 1e-6);
  work.now += 1h;
  EXPECT_EQ(work.step(1s), 0s);
}

TEST(DutyCycle, AnotherShareHoldsAtOnce) {
  Worked work{25};
  work.step(1s);
  EXPECT_NEAR(seconds_of(work.cycle.rest_until() - work.now), 3.0, 1e-6);
  work.cycle.set_percent(50);
  EXPECT_NEAR(seconds_of(work.cycle.rest_until() - work.now), 1.0, 1e-6);
  work.cycle.set_percent(100);
  EXPECT_LE(work.cycle.rest_until(), work.now);
  work.cycle.set_percent(25);
  EXPECT_LE(work.cycle.rest_until(), work.now) << "what is over is not counted again";
}

TEST(DutyCycle, NonsenseIsTheNearestShare) {
  DutyCycle cycle;
  cycle.set_percent(-5);
  EXPECT_TRUE(cycle.rests());
  cycle.set_percent(1000);
  EXPECT_FALSE(cycle.rests());
}

class RandomSteps : public testing::TestWithParam<unsigned> {};
TEST_P(RandomSteps, TakeTheirShareOfEveryMinute) {
  std::mt19937 random{GetParam()};
  const int percent = std::uniform_int_distribution{10, 99}(random);
  Worked work{percent};
  TimePoint begin = work.now;
  for (int i = 0; i < 2000; ++i) {
    work.step(std::uniform_int_distribution{1, 800}(random) * 1ms);
    if (std::uniform_int_distribution{0, 50}(random) == 0) work.now += 700ms;
    if (work.now - begin < 60s) continue;
    // The last step's rest is still to come.
    ASSERT_LE(seconds_of(work.worked), seconds_of(work.now - begin) * percent / 100 + 1.0);
    work.worked = {};
    begin = work.now;
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomSteps, testing::Range(1u, 21u));

}  // namespace
}  // namespace hearth::worker
