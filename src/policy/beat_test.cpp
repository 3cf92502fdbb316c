// SPDX-License-Identifier: Apache-2.0
#include "policy/beat.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace hearth {
namespace {

using namespace std::chrono_literals;

std::vector<Duration> every(Duration period, int n, Duration jitter, unsigned seed = 1) {
  std::mt19937 random{seed};
  std::vector<Duration> times;
  for (int i = 0; i < n; ++i) {
    const double share = std::uniform_real_distribution{0.0, 1.0}(random);
    const Duration off{static_cast<std::int64_t>(share * static_cast<double>(jitter.count()))};
    times.push_back(period * i + off);
  }
  return times;
}

TEST(Beat, IsFoundInATimerWithJitter) {
  const auto beat = find_beat(every(15min, 12, 20s));
  ASSERT_TRUE(beat);
  EXPECT_EQ(beat->period, Duration{15min});
  EXPECT_GE(beat->kept, beat->looked - 1);
}

TEST(Beat, OfAnOddPeriodIsTheMedianGap) {
  const auto beat = find_beat(every(17min, 12, 0s));
  ASSERT_TRUE(beat);
  EXPECT_EQ(beat->period, Duration{17min});
}

TEST(Beat, IsFoundAmongOthers) {
  std::vector<Duration> times = every(1h, 10, 30s);
  for (const int hour : {2, 5, 8}) times.push_back(1h * hour + 25min);
  std::ranges::sort(times);
  const auto beat = find_beat(times);
  ASSERT_TRUE(beat);
  EXPECT_EQ(beat->period, Duration{1h});
}

TEST(Beat, IsNotFoundInChance) {
  int found = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random{seed};
    std::vector<Duration> times{0s};
    for (int i = 0; i < 31; ++i) {
      const double gap = std::exponential_distribution{1 / 1800.0}(random);
      times.push_back(times.back() + Duration{static_cast<std::int64_t>(gap * 1e9)});
    }
    found += find_beat(times).has_value();
  }
  EXPECT_LE(found, 6);
}

TEST(Beat, IsNotFoundInAFewOrInACrowd) {
  EXPECT_FALSE(find_beat({}));
  EXPECT_FALSE(find_beat(every(1h, 4, 0s)));
  EXPECT_FALSE(find_beat(every(10s, 32, 5s)));
  EXPECT_FALSE(find_beat(every(0s, 32, 0s)));
}

TEST(Beat, StrikesInItsWindow) {
  const Beat beat{1h, 1min, 10h, 10, 9};
  EXPECT_EQ(beat.probability(10h + 5min, 30min), 0);
  EXPECT_NEAR(beat.probability(10h + 5min, 56min), 0.9, 1e-9);
  EXPECT_NEAR(beat.probability(10h + 5min, 55min), 0.45, 1e-9);
  // Missed: the next one.
  EXPECT_EQ(beat.probability(11h + 2min, 30min), 0);
  EXPECT_NEAR(beat.probability(11h + 30min, 40min), 9.0 / 11, 1e-9);
  EXPECT_EQ(beat.probability(17h + 30min, 40min), 0);
}

}  // namespace
}  // namespace hearth
