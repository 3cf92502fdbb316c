// SPDX-License-Identifier: Apache-2.0
#include "front/protected/give_way.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace hearth::front {
namespace {

using namespace std::chrono_literals;
using Move = GiveWayLadder::Move;
using Pins = GiveWayLadder::Pins;

Harm slow() {
  Harm harm;
  harm.latency = harm.proved = harm.telling = true;
  return harm;
}
Harm short_of_memory() {
  Harm harm;
  harm.memory = harm.proved = true;
  return harm;
}
Harm well() {
  Harm harm;
  harm.telling = true;
  return harm;
}

class Ladder {
 public:
  explicit Ladder(GiveWayLadder::Limits limits) : ladder{limits} {}

  // Looks every half second until something moves; how long that took.
  Duration until_move(const Harm& harm) {
    const TimePoint begin = now;
    while (now - begin < 1h) {
      moved = ladder.look(now += 500ms, harm);
      if (moved != Move::kNone) break;
    }
    return now - begin;
  }
  std::string names() const {
    std::string text;
    for (const std::string& each : names_of(ladder.given())) text += each + " ";
    return text;
  }

  TimePoint now{1h};
  Move moved = Move::kNone;
  GiveWayLadder ladder;
};

TEST(GiveWayLadder, GoesDownOneStepAtATime) {
  Ladder service{{8, Pins::kRelease}};
  EXPECT_EQ(service.names(), "");
  service.until_move(slow());
  EXPECT_EQ(service.names(), "prewarming threads ");
  EXPECT_EQ(service.ladder.given().compute.threads, 4);
  EXPECT_GE(service.until_move(slow()), 2s);
  EXPECT_EQ(service.names(), "prewarming threads percent ");
  EXPECT_EQ(service.ladder.given().compute.percent, 50);
  service.until_move(slow());
  EXPECT_EQ(service.ladder.given().compute.threads, 2);
  EXPECT_EQ(service.ladder.given().compute.percent, 25);
  service.until_move(slow());
  EXPECT_EQ(service.names(), "prewarming threads percent memory ");
  service.until_move(slow());
  EXPECT_EQ(service.names(), "prewarming threads percent memory pins ");
  EXPECT_EQ(service.until_move(slow()), 1h);
}

TEST(GiveWayLadder, ReleasesPinsOnlyWhereAllowed) {
  Ladder service{{2, Pins::kKeep}};
  service.until_move(short_of_memory());
  EXPECT_EQ(service.names(), "prewarming memory ");
  EXPECT_EQ(service.ladder.given().compute.threads, 0);
  EXPECT_EQ(service.until_move(short_of_memory()), 1h);
}

TEST(GiveWayLadder, MemoryIsNotGivenToWhoWaitsForProcessors) {
  Ladder service{{2, Pins::kRelease}};
  Harm harm = slow();
  harm.latency = false;
  harm.cpu = true;
  for (int i = 0; i < 3; ++i) service.until_move(harm);
  EXPECT_EQ(service.names(), "prewarming threads percent ");
  EXPECT_EQ(service.until_move(harm), 1h);
}

TEST(GiveWayLadder, GivesNoMoreWithoutFreshEvidence) {
  Ladder service{{4, Pins::kKeep}};
  service.until_move(slow());
  Harm stale = slow();
  stale.proved = false;
  EXPECT_EQ(service.until_move(stale), 1h);
  EXPECT_EQ(service.names(), "prewarming threads ");
}

TEST(GiveWayLadder, TakesBackSlowlyAndMoreSlowlyWhereItWasInVain) {
  Ladder service{{4, Pins::kKeep}};
  service.until_move(slow());
  service.until_move(slow());
  EXPECT_NEAR(service.until_move(well()) / 1s, 10, 1);
  EXPECT_EQ(service.moved, Move::kLessWay);
  EXPECT_EQ(service.names(), "prewarming threads ");
  service.until_move(slow());
  EXPECT_EQ(service.moved, Move::kMoreWay);
  EXPECT_NEAR(service.until_move(well()) / 1s, 20, 1);
  service.until_move(slow());
  EXPECT_NEAR(service.until_move(well()) / 1s, 40, 1);
  // That was not in vain: from now on sooner.
  EXPECT_NEAR(service.until_move(well()) / 1s, 40, 1);
  EXPECT_EQ(service.names(), "");
}

TEST(GiveWayLadder, LearnsLittleWhileHearthDoesNothing) {
  Ladder service{{4, Pins::kKeep}};
  service.until_move(slow());
  EXPECT_NEAR(service.until_move(Harm{}) / 1s, 40, 1);
}

TEST(GiveWayLadder, AMachineThatSleptHasNotBeenWellAllTheWhile) {
  Ladder service{{4, Pins::kKeep}};
  service.until_move(slow());
  service.now += 10h;
  EXPECT_GT(service.until_move(well()), 5s);
}

TEST(GiveWayLadder, WhoeverLeavesIsGivenNothing) {
  Ladder service{{4, Pins::kKeep}};
  service.until_move(slow());
  service.ladder.leave();
  EXPECT_EQ(service.ladder.given(), GiveWay{});
}

TEST(GiveWay, OfTwoTakesTheHarder) {
  GiveWay a, b;
  a.compute = {3, 50};
  b.memory = true;
  const GiveWay all = both(a, b);
  EXPECT_EQ(all.compute.threads, 3);
  EXPECT_EQ(all.compute.percent, 50);
  EXPECT_TRUE(all.memory && all.prewarm);
  b.compute = {2, 100};
  EXPECT_EQ(both(a, b).compute.threads, 2);
  EXPECT_EQ(both(b, a).compute.threads, 2);
  EXPECT_EQ(both(GiveWay{}, GiveWay{}), GiveWay{});
}

// A service that suffers as long as less than so many steps are given, with Hearth working now and
// then: from each seed other thresholds, other work.
class RandomServices : public testing::TestWithParam<unsigned> {};

TEST_P(RandomServices, GetWhatTheyNeedAndNoMoreForLong) {
  std::mt19937 random{GetParam()};
  const int threads = std::uniform_int_distribution{1, 32}(random);
  const int needs = std::uniform_int_distribution{0, 4}(random);
  GiveWayLadder ladder{{threads, Pins::kKeep}};
  int harmed = 0, steps = 0;
  bool works = true;
  TimePoint now{1h};
  for (int i = 0; i < 20000; ++i) {
    if (std::uniform_int_distribution{0, 199}(random) == 0) works = !works;
    Harm harm;
    harm.telling = works;
    harm.latency = harm.proved = works && steps < needs;
    harmed += i > 2000 && harm.any() ? 1 : 0;
    const Move move = ladder.look(now += 500ms, harm);
    if (move == Move::kMoreWay) ++steps;
    if (move == Move::kLessWay) --steps;
    ASSERT_GE(steps, 0);
    ASSERT_LE(steps, std::max(needs, 0)) << "more than it needs";
    const GiveWay given = ladder.given();
    ASSERT_EQ(given == GiveWay{}, steps == 0);
    ASSERT_GE(given.compute.percent, 25);
    if (steps > 0) {
      ASSERT_GE(given.compute.threads, 1);
      ASSERT_LE(given.compute.threads, threads);
    }
  }
  // Of three hours, tries to take back included.
  EXPECT_LT(harmed, 20000 * 0.03);
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomServices, testing::Range(1u, 41u));

}  // namespace
}  // namespace hearth::front
