// SPDX-License-Identifier: Apache-2.0
#include "policy/upkeep.h"

#include <gtest/gtest.h>

namespace hearth {
namespace {

using namespace std::chrono_literals;

TEST(Upkeep, WhatCostsNothingIsHeldForEver) {
  EXPECT_EQ(break_even({}), std::nullopt);
  EXPECT_EQ(worth_holding({}, {24h * 365, std::nullopt}), Worth::kHold);
}

TEST(Upkeep, BreaksEvenWhereHoldingHasCostAsMuchAsComingBack) {
  EXPECT_EQ(break_even({40, 4800, 0s, 0}), Duration{2min});
  EXPECT_EQ(break_even({40, 4800, 10s, 240}), Duration{3min});
}

struct WorthCase {
  const char* name;
  Expectation expectation;
  Worth worth;
};

class UpkeepWorth : public testing::TestWithParam<WorthCase> {};

TEST_P(UpkeepWorth, Decides) {
  EXPECT_EQ(worth_holding({40, 4800, 0s, 0}, GetParam().expectation), GetParam().worth);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, UpkeepWorth,
    testing::Values(WorthCase{"ShortSilence", {1min, std::nullopt}, Worth::kHold},
                    WorthCase{"LongSilence", {3min, std::nullopt}, Worth::kLetGo},
                    WorthCase{"ExpectedSoon", {30min, 90s}, Worth::kHold},
                    WorthCase{"ExpectedTomorrow", {1s, 14h}, Worth::kLetGo}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth
