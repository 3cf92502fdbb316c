// SPDX-License-Identifier: Apache-2.0
#include "policy/moves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "policy/debts.h"

namespace hearth {
namespace {

using namespace hearth::literals;
using namespace std::chrono_literals;
using Why = Shortfall::Why;

Holding weights(std::string subject, Bytes held, double per_hour) {
  Holding holding;
  holding.subject = std::move(subject);
  holding.held = held;
  holding.step = 1_MiB;
  holding.to_restore = 2s * (held.count() >> 30);
  holding.arrivals_per_hour = per_hour;
  return holding;
}

TEST(Moves, TakeNothingWhereEnoughIsFree) {
  const std::vector<Holding> held{weights("a", 4_GiB, 1)};
  const auto plan = plan_to_free({2_GiB, 2_GiB}, held);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->moves.empty());
}

TEST(Moves, TakeNoMoreThanIsNeededOfTheLeastRegretted) {
  const std::vector<Holding> held{weights("often", 4_GiB, 5), weights("seldom", 4_GiB, 0.1)};
  const auto plan = plan_to_free({3_GiB, 1_GiB}, held);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->moves.size(), 1U);
  EXPECT_EQ(plan->moves[0].holding, 1U);
  EXPECT_EQ(plan->moves[0].freed, 2_GiB);
  EXPECT_EQ(plan->moves[0].keeps, 2_GiB);
  EXPECT_NEAR(plan->moves[0].regret, 0.4, 1e-6);
}

TEST(Moves, WeighTheTimeToComeBack) {
  std::vector<Holding> held{weights("slow", 4_GiB, 1), weights("fast", 4_GiB, 2)};
  held[1].to_restore = 1s;
  const auto plan = plan_to_free({1_GiB, {}}, held);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->moves.at(0).holding, 1U);
}

TEST(Moves, WhatGoesWholeGoesWholeAndSparesTheOthers) {
  std::vector<Holding> held{weights("small", 1_GiB, 1), weights("whole", 6_GiB, 2)};
  held[1].step = {};
  const auto plan = plan_to_free({5_GiB, {}}, held);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->moves.size(), 1U);
  EXPECT_EQ(plan->moves[0].holding, 1U);
  EXPECT_EQ(plan->freed, 6_GiB);
}

TEST(Moves, TheHollowWorkerGoesLastOfItsModel) {
  std::vector<Holding> held{weights("m", 64_MiB, 0), weights("m", 1_GiB, 9)};
  held[0].kind = HoldingKind::kHollowWorker;
  held[0].step = {};
  auto plan = plan_to_free({10_MiB, {}}, held);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->moves.at(0).holding, 1U);
  plan = plan_to_free({1_GiB + 1_MiB, {}}, held);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->moves.size(), 2U);
  EXPECT_EQ(plan->moves[1].holding, 0U);
  EXPECT_EQ(plan->moves[0].keeps, Bytes{});
}

TEST(Moves, LeaveTheDemandsOwnAndOtherDevicesAndPageCacheAlone) {
  std::vector<Holding> held{weights("own", 8_GiB, 0), weights("gpu", 8_GiB, 0),
                            weights("cache", 8_GiB, 0)};
  held[1].device = 0;
  held[2].kind = HoldingKind::kPageCache;
  MemoryDemand demand{4_GiB, 1_GiB, kHostMemory, "own"};
  const auto plan = plan_to_free(demand, held);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().movable, Bytes{});
  EXPECT_TRUE(plan.error().obstacles.empty());
  demand.device = 0;
  EXPECT_EQ(plan_to_free(demand, held)->moves.at(0).holding, 1U);
}

TEST(Moves, ARefusalHasTheNumbersAndWhatStandsInTheWay) {
  std::vector<Holding> held{weights("busy", 4_GiB, 1), weights("pinned", 3_GiB, 1),
                            weights("promised", 2_GiB, 1), weights("owed", 1_GiB, 1),
                            weights("free", 1_GiB, 1)};
  held[0].busy = true;
  held[1].floor = 3_GiB;
  held[1].floor_reason = FloorReason::kPin;
  held[2].floor = 1_GiB;
  held[2].floor_reason = FloorReason::kWarmBound;
  held[3].owed = 2;
  const auto plan = plan_to_free({9_GiB, 1_GiB}, held);
  ASSERT_FALSE(plan);
  const Shortfall& why = plan.error();
  EXPECT_EQ(why.movable, 2_GiB);
  EXPECT_FALSE(why.passes);
  ASSERT_EQ(why.obstacles.size(), 4U);
  EXPECT_EQ(why.obstacles[0].why, Why::kBusy);
  EXPECT_EQ(why.obstacles[1].why, Why::kPin);
  EXPECT_EQ(
      text_of(why, held),
      "9.0 GiB are needed, 1.0 GiB are free and 2.0 GiB could be given up; busy keeps 4.0 GiB "
      "(weights: in use), pinned keeps 3.0 GiB (weights: pinned), promised keeps 1.0 GiB "
      "(weights: promised to be warm), owed keeps 1.0 GiB (weights: others waited for it)");
  EXPECT_TRUE(plan_to_free({7_GiB, 1_GiB}, held).error().passes);
}

// Whatever is held, plans keep to the rules.
class MovesFromSeed : public testing::TestWithParam<unsigned> {};

std::vector<Holding> any_holdings(std::mt19937& random) {
  const auto pick = [&random](int n) {
    return static_cast<int>(random() % static_cast<unsigned>(n));
  };
  std::vector<Holding> held;
  for (int i = pick(14); i > 0; --i) {
    Holding one = weights(std::string(1, static_cast<char>('a' + pick(5))),
                          Bytes{1ULL + random() % 4'000'000'000}, pick(4) * 0.7);
    one.kind = static_cast<HoldingKind>(pick(8));
    one.device = pick(4) == 0 ? 0 : kHostMemory;
    one.step = pick(3) == 0 ? Bytes{} : Bytes{1ULL + random() % 500'000'000};
    one.to_restore = Duration{static_cast<std::int64_t>(random() % 20'000'000'000)};
    one.busy = pick(5) == 0;
    one.owed = pick(6) == 0 ? 1 : 0;
    if (pick(4) == 0) one.floor = Bytes{random() % 5'000'000'000};
    held.push_back(one);
  }
  return held;
}

void check_move(const MemoryDemand& demand, const Holding& holding, const PlannedMove& move) {
  EXPECT_FALSE(holding.busy);
  EXPECT_EQ(holding.owed, 0);
  EXPECT_EQ(holding.device, demand.device);
  EXPECT_NE(holding.subject, demand.subject);
  EXPECT_NE(holding.kind, HoldingKind::kPageCache);
  EXPECT_GT(move.freed, Bytes{});
  EXPECT_EQ(move.freed + move.keeps, holding.held);
  EXPECT_GE(move.keeps, holding.floor);
  if (holding.step == Bytes{}) {
    EXPECT_EQ(move.keeps, Bytes{});
  }
}

TEST_P(MovesFromSeed, KeepToTheRules) {
  std::mt19937 random{GetParam()};
  for (int round = 0; round < 400; ++round) {
    const std::vector<Holding> held = any_holdings(random);
    const MemoryDemand demand{Bytes{random() % 9'000'000'000}, Bytes{random() % 2'000'000'000},
                              random() % 4 == 0 ? 0 : kHostMemory, random() % 2 == 0 ? "a" : "z"};
    const auto plan = plan_to_free(demand, held);
    if (!plan) {
      EXPECT_LT(plan.error().free + plan.error().movable, demand.needed);
      continue;
    }
    Bytes sum{};
    std::set<std::size_t> moved;
    for (const PlannedMove& move : plan->moves) {
      check_move(demand, held.at(move.holding), move);
      EXPECT_TRUE(moved.insert(move.holding).second);
      sum += move.freed;
    }
    EXPECT_EQ(sum, plan->freed);
    EXPECT_GE(demand.free + sum, demand.needed);
    for (const PlannedMove& move : plan->moves) {
      const Holding& holding = held[move.holding];
      const bool hollow_too = std::ranges::any_of(moved, [&](std::size_t i) {
        return held[i].kind == HoldingKind::kHollowWorker && held[i].subject == holding.subject;
      });
      const Bytes without = demand.free + sum - move.freed;
      EXPECT_TRUE(hollow_too || without < demand.needed) << "a move that nobody needs";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, MovesFromSeed, testing::Range(1U, 21U));

TEST(Debts, ALoadOwesATurnToEachThatWaited) {
  Debts debts;
  debts.wait("m", 1);
  debts.wait("m", 1);
  debts.wait("m", 2);
  EXPECT_EQ(debts.owed("m"), 2);
  EXPECT_EQ(debts.owed("other"), 0);
  debts.settle("m", 1);
  debts.settle("m", 7);
  debts.settle("other", 1);
  EXPECT_EQ(debts.owed("m"), 1);
  debts.forget("m");
  EXPECT_EQ(debts.owed("m"), 0);
}

}  // namespace
}  // namespace hearth
