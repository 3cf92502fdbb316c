// SPDX-License-Identifier: Apache-2.0
#include "front/prewarm/lasting_time.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "front/prewarm/moments.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;

TEST(LastingTime, IsTheBootClockWhateverTheWallClockDoes) {
  LastingTime time{"a"};
  EXPECT_EQ(time.at({100s, 1000}), 0s);
  EXPECT_EQ(time.at({160s, 5'000'000}), 60s);
  EXPECT_EQ(time.at({170s, -5}), 70s);
  EXPECT_EQ(time.at({150s, 0}), 70s) << "it never goes back";
  EXPECT_EQ(time.at({160s, 0}), 80s);
}

struct RestartCase {
  const char* name;
  const char* boot;
  Instant at;
  Duration passed;
};
class LastingTimeRestart : public ::testing::TestWithParam<RestartCase> {};

TEST_P(LastingTimeRestart, GoesOn) {
  LastingTime time{GetParam().boot, {10s, {100s, 1'000'000}, "a"}};
  EXPECT_EQ(time.at(GetParam().at), 10s + GetParam().passed);
  const Instant later{GetParam().at.boot + 5s, GetParam().at.local_s - 70};
  EXPECT_EQ(time.at(later), 15s + GetParam().passed);
}

INSTANTIATE_TEST_SUITE_P(
    LastingTime, LastingTimeRestart,
    ::testing::Values(RestartCase{"OfTheServer", "a", {130s, 1'000'030}, 30s},
                      RestartCase{"OfTheServerWithTheClockSet", "a", {130s, 9'000'000}, 30s},
                      RestartCase{"OfTheMachine", "b", {3s, 1'000'500}, 500s},
                      RestartCase{"WhereBootsHaveNoName", "", {130s, 1'000'500}, 500s},
                      RestartCase{"WithTheClockSetBack", "b", {3s, 999'000}, 0s},
                      RestartCase{"AfterYears", "b", {3s, 1'000'000'000}, 30 * 24h},
                      RestartCase{"WithAnOddClock",
                                  "b",
                                  {3s, std::numeric_limits<std::int64_t>::max()},
                                  30 * 24h}),
    [](const auto& test) { return test.param.name; });

TEST(LastingTime, NeverGoesBackWhateverClocksDo) {
  for (std::uint32_t seed = 1; seed <= 50; ++seed) {
    std::mt19937_64 random{seed};
    LastingTime time{"0"};
    Duration last{};
    for (int i = 0; i < 200; ++i) {
      if (random() % 10 == 0) time = LastingTime{std::to_string(random() % 3), time.notes()};
      const Instant moment{std::chrono::seconds{random() % 1'000'000},
                           static_cast<std::int64_t>(random() % 1'000'000'000)};
      const Duration now = time.at(moment);
      ASSERT_GE(now, last) << seed;
      last = now;
    }
  }
}

TEST(Moments, AreThoseOfTheRealClocks) {
  const Instant first = Moments{}.now();
  const Instant second = Moments{}.now();
  EXPECT_GT(first.boot, 0s);
  EXPECT_GE(second.boot, first.boot);
  EXPECT_LE(std::abs(first.local_s - Clock::real().wall_us() / 1'000'000), 15 * 3600);
  EXPECT_EQ(this_boot(), this_boot());
}

}  // namespace
}  // namespace hearth::front
