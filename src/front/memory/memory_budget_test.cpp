// SPDX-License-Identifier: Apache-2.0
#include "front/memory/memory_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace hearth::front {
namespace {

using namespace literals;
using ::testing::HasSubstr;
using ::testing::Not;

MemoryRoom machine(Bytes total, Bytes available, std::optional<Bytes> cap = {}) {
  return {total, available, cap, cap ? "cgroup /cg" : ""};
}

Held weights(Bytes bytes) { return {HeldFor::kWeights, "sha:1", "smol", bytes, false}; }
Held mapped(Bytes bytes) { return {HeldFor::kWeights, "sha:1", "smol", bytes, true}; }

struct LimitCase {
  const char* name;
  Bytes configured;
  std::optional<Bytes> kept_free;
  std::vector<Held> held;
  MemoryRoom room;
  Bytes limit;
  const char* why;
};
void PrintTo(const LimitCase& c, std::ostream* out) { *out << c.name; }
class Limit : public ::testing::TestWithParam<LimitCase> {};

TEST_P(Limit, IsTheLeastOfAll) {
  MemoryBudget budget{{"memory", GetParam().configured, GetParam().kept_free}};
  budget.set_held(GetParam().held);
  budget.set_reading(GetParam().room);
  EXPECT_EQ(budget.limit(), GetParam().limit);
  EXPECT_THAT(budget.why_limit(), HasSubstr(GetParam().why));
}

INSTANTIATE_TEST_SUITE_P(
    Budget, Limit,
    ::testing::Values(
        LimitCase{"Share", {}, 1_GiB, {}, machine(16_GiB, 10_GiB), 8_GiB, "80 %"},
        LimitCase{"ShareCountsWhatWeHold",
                  {},
                  1_GiB,
                  {weights(5_GiB)},
                  machine(16_GiB, 5_GiB),
                  8_GiB,
                  "80 %"},
        LimitCase{"Configured", 4_GiB, 1_GiB, {}, machine(16_GiB, 10_GiB), 4_GiB, "configured"},
        LimitCase{"MoreThanTheMachine",
                  64_GiB,
                  1_GiB,
                  {weights(15_GiB)},
                  machine(16_GiB, 1_GiB),
                  15_GiB,
                  "all of the memory"},
        LimitCase{"Cgroup",
                  8_GiB,
                  1_GiB,
                  {},
                  machine(16_GiB, 4_GiB, 4_GiB),
                  3_GiB,
                  "cgroup /cg, but 1.0 GiB kept free"},
        LimitCase{"OthersUseIt", 8_GiB, 1_GiB, {}, machine(16_GiB, 3_GiB), 2_GiB, "other programs"},
        LimitCase{"WhatIsHeldAnywayIsPossible",
                  8_GiB,
                  1_GiB,
                  {weights(2_GiB)},
                  machine(16_GiB, 3_GiB),
                  4_GiB,
                  "other programs"},
        LimitCase{"PageCacheIsAvailableAlready",
                  8_GiB,
                  1_GiB,
                  {mapped(2_GiB)},
                  machine(16_GiB, 3_GiB),
                  2_GiB,
                  "other programs"},
        LimitCase{
            "LessThanTheReserve", 8_GiB, 1_GiB, {}, machine(16_GiB, 512_MiB), {}, "other programs"},
        LimitCase{"CgroupBelowTheReserve",
                  {},
                  1_GiB,
                  {},
                  machine(512_MiB, 512_MiB, 512_MiB),
                  {},
                  "cgroup"},
        LimitCase{"NothingKnown", 4_GiB, {}, {}, {}, 4_GiB, "configured"},
        LimitCase{"NotEvenConfigured", {}, {}, {}, {}, Bytes{~std::uint64_t{0}}, "not known"}),
    [](const auto& test) { return test.param.name; });

TEST(MemoryBudget, KeepsAReserveByDefault) {
  EXPECT_EQ(MemoryBudget::default_reserve(std::nullopt), 256_MiB);
  EXPECT_EQ(MemoryBudget::default_reserve(4_GiB), 256_MiB);
  EXPECT_EQ(MemoryBudget::default_reserve(100_GiB), 5_GiB);
  EXPECT_EQ(MemoryBudget{{}}.kept_free(), 256_MiB);
  EXPECT_EQ(MemoryBudget({"memory", {}, 7_MiB}).kept_free(), 7_MiB);
}

TEST(MemoryBudget, TheShareIsOfTheFirstReadingThatTells) {
  MemoryBudget budget{{"memory", {}, Bytes{}}};
  budget.set_reading(MemoryRoom{16_GiB, std::nullopt, std::nullopt});
  EXPECT_EQ(budget.limit(), 16_GiB);
  budget.set_reading(machine(16_GiB, 10_GiB));
  EXPECT_EQ(budget.limit(), 8_GiB);
  budget.set_reading(machine(16_GiB, 15_GiB));
  EXPECT_EQ(budget.limit(), 8_GiB);
  budget.set_limit(12_GiB);
  EXPECT_EQ(budget.limit(), 12_GiB);
  budget.set_limit({});
  EXPECT_EQ(budget.limit(), 8_GiB);
}

class Ledger : public ::testing::Test {
 protected:
  Ledger() { budget_.set_reading(machine(16_GiB, 15_GiB)); }
  MemoryBudget budget_{{"memory", 8_GiB, Bytes{}}};
};

TEST_F(Ledger, PromisesWhatIsFree) {
  budget_.set_held({weights(2_GiB)});
  EXPECT_EQ(budget_.free(), 6_GiB);
  auto first = budget_.reserve("sha:2", 4_GiB);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->artifact(), "sha:2");
  EXPECT_EQ(budget_.promised(), 4_GiB);
  EXPECT_EQ(budget_.free(), 2_GiB);
  EXPECT_TRUE(budget_.reserve("sha:3", 2_GiB));  // and given back at once
  const auto refused = budget_.reserve("sha:3", 3_GiB);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kNoSpace);
  EXPECT_EQ(refused.error().message(),
            "3.0 GiB of memory wanted, 2.0 GiB free: the limit is 8.0 GiB (as configured), 2.0 GiB "
            "held (weights of smol 2.0 GiB), 4.0 GiB promised to 1 load");
  EXPECT_TRUE(budget_.fits_alone(8_GiB));
  EXPECT_FALSE(budget_.fits_alone(9_GiB));
}

TEST_F(Ledger, WhatIsHeldIsPromisedNoMore) {
  auto load = budget_.reserve("sha:1", 4_GiB);
  ASSERT_TRUE(load);
  for (const Bytes so_far : {1_GiB, 3_GiB, 2_GiB}) {
    budget_.set_held({weights(so_far)});
    load->now_held(so_far);
    EXPECT_EQ(budget_.held() + budget_.promised(), 4_GiB);
    EXPECT_EQ(load->left(), 4_GiB - so_far);
  }
  budget_.set_held({weights(5_GiB)});  // more than was asked for
  load->now_held(5_GiB);
  EXPECT_EQ(budget_.promised(), Bytes{});
  EXPECT_EQ(budget_.free(), 3_GiB);
}

TEST_F(Ledger, ALoadMayTurnOutLarger) {
  auto load = budget_.reserve("sha:1", 4_GiB);
  ASSERT_TRUE(load);
  load->now_held(1_GiB);
  budget_.set_held({weights(1_GiB)});
  EXPECT_TRUE(budget_.grow(*load, 2_GiB));
  EXPECT_EQ(load->asked(), 6_GiB);
  EXPECT_EQ(budget_.promised(), 5_GiB);
  EXPECT_EQ(budget_.grow(*load, 3_GiB).error().code(), ErrorCode::kNoSpace);
  EXPECT_EQ(budget_.promised(), 5_GiB);
  Reservation nothing;
  EXPECT_FALSE(budget_.grow(nothing, 1_MiB));
}

TEST_F(Ledger, ReservationsMoveAndEndOnce) {
  auto load = budget_.reserve("sha:1", 4_GiB);
  ASSERT_TRUE(load);
  Reservation moved{std::move(*load)};
  EXPECT_TRUE(moved);
  EXPECT_FALSE(*load);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(load->left(), Bytes{});
  EXPECT_TRUE(load->artifact().empty());
  load->now_held(1_GiB);
  load->release();
  EXPECT_EQ(budget_.promised(), 4_GiB);
  auto other = budget_.reserve("sha:2", 1_GiB);
  moved = std::move(*other);  // the first is given back
  EXPECT_EQ(budget_.promised(), 1_GiB);
  moved.release();
  moved.release();
  EXPECT_EQ(budget_.promised(), Bytes{});
  {
    const auto gone = budget_.reserve("sha:3", 2_GiB);
    EXPECT_EQ(budget_.promised(), 2_GiB);
  }
  EXPECT_EQ(budget_.promised(), Bytes{});
}

TEST(MemoryBudget, AReservationMayOutliveIt) {
  Reservation left;
  {
    MemoryBudget budget{{"memory", 8_GiB, Bytes{}}};
    left = std::move(*budget.reserve("sha:1", 1_GiB));
  }
  EXPECT_EQ(left.left(), 1_GiB);
}

TEST_F(Ledger, ALowerLimitShowsHowFarItIsExceeded) {
  budget_.set_held({weights(6_GiB)});
  EXPECT_EQ(budget_.over(), Bytes{});
  EXPECT_EQ(budget_.shortfall(), Bytes{});
  budget_.set_limit(4_GiB);
  EXPECT_EQ(budget_.over(), 2_GiB);
  EXPECT_EQ(budget_.shortfall(), 2_GiB);
  EXPECT_EQ(budget_.free(), Bytes{});
  EXPECT_EQ(budget_.reserve("sha:2", 1_MiB).error().code(), ErrorCode::kNoSpace);
  EXPECT_TRUE(budget_.reserve("sha:2", Bytes{}));
}

TEST_F(Ledger, APromiseCountsAgainstALowerLimit) {
  budget_.set_held({weights(3_GiB)});
  const auto load = budget_.reserve("sha:2", 3_GiB);
  ASSERT_TRUE(load);
  budget_.set_limit(5_GiB);
  EXPECT_EQ(budget_.over(), Bytes{});
  EXPECT_EQ(budget_.shortfall(), 1_GiB);
  budget_.set_limit(1_GiB);
  EXPECT_EQ(budget_.shortfall(), 3_GiB);  // all there is to give
}

TEST_F(Ledger, ANeighbourThatTakesMemoryIsAShortfall) {
  budget_.set_kept_free(1_GiB);
  budget_.set_held({weights(4_GiB)});
  budget_.set_reading(machine(16_GiB, 1_GiB));
  EXPECT_EQ(budget_.shortfall(), Bytes{});
  budget_.set_reading(machine(16_GiB, 256_MiB));
  EXPECT_EQ(budget_.shortfall(), 768_MiB);
  // What a load has taken since the last reports is missing from both for a moment: no promise
  // counts against what is possible.
  budget_.set_reading(machine(16_GiB, 3_GiB));
  const auto load = budget_.reserve("sha:2", 2_GiB);
  ASSERT_TRUE(load);
  budget_.set_reading(machine(16_GiB, 1_GiB));
  EXPECT_EQ(budget_.shortfall(), Bytes{});
}

TEST(MemoryBudget, SaysWhenMoreIsConfiguredThanThereIs) {
  MemoryBudget budget{{"memory", 64_GiB, 1_GiB}};
  EXPECT_EQ(budget.complaint(), "");
  budget.set_reading(machine(16_GiB, 16_GiB));
  EXPECT_EQ(budget.complaint(),
            "64.0 GiB of memory are configured, but there are 16.0 GiB in all: the limit is 15.0 "
            "GiB");
  budget.set_limit(8_GiB);
  EXPECT_EQ(budget.complaint(), "");
}

TEST(MemoryBudget, ADevicesIsAllOfIt) {
  MemoryBudget budget = MemoryBudget::of_device("CUDA0", {});
  budget.set_held({weights(2_GiB)});
  budget.set_reading(room_of(DeviceMemory{"CUDA0", 8_GiB, 5_GiB}));
  EXPECT_EQ(budget.limit(), 7_GiB);  // a gibibyte is others'
  EXPECT_EQ(budget.why_limit(), "what other programs leave");
  budget.set_reading(room_of(DeviceMemory{"CUDA0", 8_GiB, 6_GiB}));
  EXPECT_EQ(budget.limit(), 8_GiB);
  EXPECT_EQ(budget.why_limit(), "all of the CUDA0");
  EXPECT_THAT(budget.explain(1_GiB), HasSubstr("1.0 GiB of CUDA0 wanted"));
  MemoryBudget half = MemoryBudget::of_device("CUDA0", 4_GiB);
  half.set_reading(room_of(DeviceMemory{"CUDA0", std::nullopt, std::nullopt}));
  EXPECT_EQ(half.limit(), 4_GiB);
}

TEST(MemoryBudget, NamesTheLargestHolders) {
  MemoryBudget budget{{"memory", 1000_GiB, Bytes{}}};
  std::vector<Held> held{{HeldFor::kPrefix, "", "", 9_GiB, false}};
  for (unsigned i = 0; i < 10; ++i) {
    held.push_back({HeldFor::kKv, "m" + std::to_string(i), "", Bytes{i << 20U}, false});
  }
  held.push_back({HeldFor::kKv, "m9", "", 1_MiB, true});  // both ways of holding count as one
  budget.set_held(held);
  const std::string text = budget.explain(Bytes{1});
  EXPECT_THAT(text, HasSubstr("(prefix 9.0 GiB, kv of m9 10.0 MiB, kv of m8 8.0 MiB"));
  EXPECT_THAT(text, HasSubstr("others 10.0 MiB)"));
  EXPECT_THAT(text, Not(HasSubstr("m0")));
}

TEST(MemoryBudget, AbsurdReportsDoNotWrapAround) {
  MemoryBudget budget{{"memory", 8_GiB, Bytes{}}};
  budget.set_held({weights(Bytes{~std::uint64_t{0}}), weights(2_GiB)});
  budget.set_reading(machine(16_GiB, 8_GiB));
  EXPECT_EQ(budget.free(), Bytes{});
  EXPECT_GT(budget.over(), 16_GiB);
  MemoryBudget boundless{{}};
  auto all = boundless.reserve("a", Bytes{~std::uint64_t{0}});
  EXPECT_TRUE(all);
  EXPECT_EQ(boundless.free(), Bytes{});
}

TEST(MemoryRoom, OfACgroupIsItsRoom) {
  MachineMemory memory;
  memory.total = 16_GiB;
  memory.available = 10_GiB;
  EXPECT_EQ(room_of(memory).available, 10_GiB);
  EXPECT_FALSE(room_of(memory).cap);
  memory.cgroup = CgroupMemory{"/cg", 2, 4_GiB, 3_GiB, 1_GiB, {}, {}};
  EXPECT_EQ(room_of(memory).total, 4_GiB);
  EXPECT_EQ(room_of(memory).available, 3_GiB);
  EXPECT_EQ(room_of(memory).cap_name, "cgroup /cg");
}

}  // namespace
}  // namespace hearth::front
