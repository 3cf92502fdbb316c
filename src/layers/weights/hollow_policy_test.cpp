// SPDX-License-Identifier: Apache-2.0
#include "layers/weights/hollow_policy.h"

#include <gtest/gtest.h>

#include <ostream>

namespace hearth {
namespace {

using namespace literals;
using namespace std::chrono_literals;
using enum HollowFate;

constexpr double kDaily = 1.0 / 24;
constexpr double kMonthly = 1.0 / (24 * 30);

struct FateCase {
  const char* name;
  HollowWorker worker;
  HollowFate fate;
};
void PrintTo(const FateCase& c, std::ostream* out) { *out << c.name; }

class HollowFates : public ::testing::TestWithParam<FateCase> {};

TEST_P(HollowFates, FollowFromCostAndUse) {
  EXPECT_EQ(fate_of(GetParam().worker, HollowTerms{}), GetParam().fate);
}

INSTANTIATE_TEST_SUITE_P(
    Weights, HollowFates,
    ::testing::Values(
        FateCase{"UsedDaily", {50_MiB, 45_MiB, false, 500ms, kDaily}, kKeep},
        FateCase{"UsedMonthly", {50_MiB, 45_MiB, false, 500ms, kMonthly}, kEnd},
        FateCase{"NeverUsed", {50_MiB, 45_MiB, false, 500ms, 0}, kEnd},
        FateCase{"QuickToStartAndRarelyUsed", {20_MiB, 20_MiB, false, 20ms, kDaily}, kEnd},
        FateCase{"QuickToStartAndOftenUsed", {20_MiB, 20_MiB, false, 20ms, 2}, kKeep},
        FateCase{"StartNotMeasured", {50_MiB, 45_MiB, false, 0ms, 0}, kKeep},
        FateCase{"Grown", {70_MiB, 45_MiB, false, 500ms, 1}, kReplace},
        FateCase{"GrownToTheBound", {69_MiB, 45_MiB, false, 500ms, 1}, kKeep},
        FateCase{"GrownAndNotWorthIt", {70_MiB, 45_MiB, false, 500ms, kMonthly}, kEnd},
        FateCase{"LargeWhereFreshIsNotKnown", {81_MiB, 0_MiB, false, 500ms, 1}, kReplace},
        FateCase{"SmallWhereFreshIsNotKnown", {80_MiB, 0_MiB, false, 500ms, 1}, kKeep},
        FateCase{"HeldAGpu", {40_MiB, 40_MiB, true, 500ms, 1}, kReplace},
        FateCase{"HeldAGpuAndRarelyUsed", {40_MiB, 40_MiB, true, 500ms, kMonthly}, kEnd}),
    [](const auto& test) { return test.param.name; });

TEST(ExpectedUses, FollowWhatWasSeen) {
  EXPECT_EQ(expected_uses_per_hour(0, 10h, 10h), 0);
  EXPECT_DOUBLE_EQ(expected_uses_per_hour(20, 10h, 0s), 2);
  EXPECT_DOUBLE_EQ(expected_uses_per_hour(1, 1min, 1min), 1);  // a first minute says little
}

TEST(ExpectedUses, FadeWhileAModelIsLeftAlone) {
  EXPECT_DOUBLE_EQ(expected_uses_per_hour(100, 100h, 1h), 1);
  EXPECT_DOUBLE_EQ(expected_uses_per_hour(100, 100h, 50h), 0.02);
}

}  // namespace
}  // namespace hearth
