// SPDX-License-Identifier: Apache-2.0
#include "front/levels/pressure_sense.h"

#include <gtest/gtest.h>

namespace hearth::front {
namespace {

using namespace std::chrono_literals;

Bytes gib(std::uint64_t n) { return Bytes{n << 30}; }

MemorySign sign(Bytes available, double stalls) {
  return {gib(16), available, gib(1), stalls, std::nullopt};
}

TEST(PressureSense, AsksForWhatTheReserveLacks) {
  PressureSense sense;
  EXPECT_EQ(sense.wanted(sign(gib(2), 0), TimePoint{}, {}), Bytes{});
  EXPECT_EQ(sense.wanted(sign(Bytes{1}, 0), TimePoint{}, {}), gib(1) - Bytes{1});
}

TEST(PressureSense, StallsCountOnceTheyLast) {
  PressureSense sense;
  const TimePoint start{};
  EXPECT_EQ(sense.wanted(sign(gib(2), 20), start, {}), Bytes{});
  EXPECT_EQ(sense.wanted(sign(gib(2), 20), start + 1900ms, {}), Bytes{});
  EXPECT_GT(sense.wanted(sign(gib(2), 20), start + 2s, {}), Bytes{});
  // The next move only after the last could show.
  EXPECT_EQ(sense.wanted(sign(gib(2), 20), start + 2100ms, {}), Bytes{});
  EXPECT_GT(sense.wanted(sign(gib(2), 20), start + 4s, {}), Bytes{});
}

TEST(PressureSense, AShortStallIsForgotten) {
  PressureSense sense;
  const TimePoint start{};
  (void)sense.wanted(sign(gib(2), 20), start, {});
  (void)sense.wanted(sign(gib(2), 2), start + 1s, {});
  EXPECT_EQ(sense.wanted(sign(gib(2), 20), start + 2500ms, {}), Bytes{});
}

TEST(PressureSense, StallsAmidPlentyAreSomebodyElses) {
  PressureSense sense;
  for (int second = 0; second < 10; ++second) {
    const TimePoint now = TimePoint{} + std::chrono::seconds{second};
    EXPECT_EQ(sense.wanted(sign(gib(8), 90), now, {}), Bytes{});
  }
}

TEST(PressureSense, ALoweredBudgetIsWantedBack) {
  PressureSense sense;
  MemorySign over = sign(gib(8), 0);
  over.over = gib(3);
  EXPECT_EQ(sense.wanted(over, TimePoint{}, {}), gib(3));
}

TEST(PressureSense, LooksOftenOnlyNearTheReserve) {
  EXPECT_EQ(PressureSense::interval(sign(gib(8), 0)), 1s);
  EXPECT_LT(PressureSense::interval(sign(gib(3), 0)), 1s);
}

// A kernel that tells nothing is no reason to move anything.
TEST(PressureSense, NothingKnownNothingWanted) {
  PressureSense sense;
  EXPECT_EQ(sense.wanted({}, TimePoint{}, {}), Bytes{});
}

}  // namespace
}  // namespace hearth::front
