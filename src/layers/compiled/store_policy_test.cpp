// SPDX-License-Identifier: Apache-2.0
#include "layers/compiled/store_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace hearth {
namespace {

using namespace literals;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Duration kDay = 24h;

struct WorthCase {
  const char* name;
  StoredWorth stored;
  double seconds;
};
class StoreWorth : public testing::TestWithParam<WorthCase> {};
TEST_P(StoreWorth, IsSecondsPerGib) {
  EXPECT_NEAR(seconds_per_gib(GetParam().stored), GetParam().seconds, 1e-6);
}
INSTANTIATE_TEST_SUITE_P(Compiled, StoreWorth,
                         testing::Values(WorthCase{"MeasuredOnce", {2_GiB, 3s, 1, {}}, 1.5},
                                         WorthCase{"EachStartCounts", {2_GiB, 3s, 4, {}}, 6},
                                         WorthCase{"NotMeasured", {2_GiB, {}, 1, {}}, 1},
                                         WorthCase{"NotStartedYet", {2_GiB, 3s, 0, {}}, 1.5},
                                         WorthCase{
                                             "HalfAfterTwoWeeks", {1_GiB, 2s, 1, 14 * kDay}, 1},
                                         WorthCase{"NobodyHasTheModel", {1_GiB, 2s, 9, {}, 0}, 0},
                                         WorthCase{"Nothing", {Bytes{}, 2s, 9, {}}, 0}),
                         [](const auto& test) { return test.param.name; });

struct PlanCase {
  const char* name;
  StoredWorth wanted;
  std::vector<StoredWorth> kept;
  Bytes room;
  StoreWish wish;
  bool store;
  std::vector<std::size_t> evict;
};
class StorePlanning : public testing::TestWithParam<PlanCase> {};
TEST_P(StorePlanning, Decides) {
  const PlanCase& each = GetParam();
  const StorePlan plan = plan_store(each.wanted, each.kept, each.room, each.wish);
  EXPECT_EQ(plan.store, each.store) << plan.why_not;
  EXPECT_EQ(plan.why_not.empty(), each.store);
  EXPECT_EQ(plan.evict, each.evict);
}

const StoredWorth kUsual{1_GiB, 1s, 1, {}};
const StoredWorth kOld{1_GiB, 1s, 1, 30 * kDay};
const StoredWorth kOften{1_GiB, 1s, 9, {}};
const StoredWorth kQuick{1_GiB, 10ms, 1, {}};
const StoredWorth kSmall{100_MiB, 100ms, 1, kDay};
constexpr auto kIfItPays = StoreWish::kIfItPays;

INSTANTIATE_TEST_SUITE_P(
    Compiled, StorePlanning,
    testing::Values(
        PlanCase{"Fits", kUsual, {kUsual}, 2_GiB, kIfItPays, true, {}},
        PlanCase{"NoRoomAtAll", kUsual, {}, Bytes{}, StoreWish::kAsked, false, {}},
        PlanCase{"TooLarge", kUsual, {}, 1000_MiB, StoreWish::kAsked, false, {}},
        PlanCase{"TooQuick", kQuick, {}, 9_GiB, kIfItPays, false, {}},
        PlanCase{"TooQuickButAsked", kQuick, {}, 9_GiB, StoreWish::kAsked, true, {}},
        PlanCase{"OldGoes", kUsual, {kOften, kOld}, 2_GiB, kIfItPays, true, {1}},
        PlanCase{"EqualStays", kUsual, {kUsual}, 1_GiB, kIfItPays, false, {}},
        PlanCase{"EqualGoesWhenAsked", kUsual, {kUsual}, 1_GiB, StoreWish::kAsked, true, {0}},
        PlanCase{"LeastFirst", kOften, {kUsual, kOld, kSmall}, 2_GiB, kIfItPays, true, {1, 2}},
        PlanCase{"NotForSomethingLess", kOld, {kUsual}, 1_GiB, kIfItPays, false, {}}),
    [](const auto& test) { return test.param.name; });

TEST(StoreRoom, WhatIsWorthLeastGoes) {
  EXPECT_THAT(beyond_room(std::vector{kUsual, kOld, kOften}, 3_GiB), IsEmpty());
  EXPECT_THAT(beyond_room(std::vector{kUsual, kOld, kOften}, 2_GiB), ElementsAre(1));
  EXPECT_THAT(beyond_room(std::vector{kUsual, kOld, kOften}, Bytes{}), ElementsAre(1, 0, 2));
}

TEST(StoreRoom, HoldsWhateverComes) {
  Random random{7};
  for (int round = 0; round < 2000; ++round) {
    std::vector<StoredWorth> kept(random.next() % 8);
    const auto any = [&random] {
      return StoredWorth{Bytes{random.next() % 1000 + 1},
                         Duration{std::int64_t(random.next() % 50)}, int(random.next() % 3),
                         kDay * int(random.next() % 40), int(random.next() % 2)};
    };
    for (StoredWorth& each : kept) each = any();
    const Bytes room{random.next() % 4000};
    for (const std::size_t gone : beyond_room(kept, room)) kept[gone].size = {};
    const StoredWorth wanted = any();
    const auto wish = random.next() % 2 == 0 ? StoreWish::kAsked : kIfItPays;
    const StorePlan plan = plan_store(wanted, kept, room, wish);
    if (!plan.store) continue;
    for (const std::size_t gone : plan.evict) kept[gone].size = {};
    Bytes used = wanted.size;
    for (const StoredWorth& each : kept) used += each.size;
    EXPECT_LE(used, room);
  }
}

}  // namespace
}  // namespace hearth
