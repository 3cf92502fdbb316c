// SPDX-License-Identifier: Apache-2.0
#include "lab/statistics/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace hearth::lab {
namespace {

struct QuantileCase {
  const char* name;
  std::vector<double> values;
  double share;
  double expected;
};
class Quantile : public testing::TestWithParam<QuantileCase> {};
TEST_P(Quantile, IsLinearBetweenNeighbours) {
  const auto found = quantile(GetParam().values, GetParam().share);
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(*found, GetParam().expected);
}
INSTANTIATE_TEST_SUITE_P(Type7, Quantile,
                         testing::Values(QuantileCase{"One", {7}, 0.99, 7},
                                         QuantileCase{"Middle", {3, 1, 2}, 0.5, 2},
                                         QuantileCase{"BetweenTwo", {4, 1, 2, 3}, 0.5, 2.5},
                                         QuantileCase{"Quarter", {1, 2, 3, 4}, 0.25, 1.75},
                                         QuantileCase{"Top", {1, 2, 3}, 1, 3},
                                         QuantileCase{"Above", {1, 2, 3}, 1.5, 3},
                                         QuantileCase{"Below", {1, 2, 3}, -1, 1}),
                         [](const auto& test) { return test.param.name; });

TEST(Quantile, OfNothingIsNone) { EXPECT_FALSE(quantile({}, 0.5)); }

std::vector<double> around(double middle, int count, unsigned seed) {
  std::mt19937 random{seed};
  std::vector<double> values;
  for (int i = 0; i < count; ++i) {
    // Skewed, as waits are.
    const double u = (random() + 0.5) / 4294967296.0;
    values.push_back(middle * std::exp(0.2 * std::log(u / (1 - u))));
  }
  return values;
}

TEST(MedianInterval, HoldsTheTruthNineteenTimesInTwenty) {
  int held = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    const auto found = median_interval(around(100, 15, seed));
    if (found->low <= 100 && 100 <= found->high) ++held;
  }
  EXPECT_GE(held, 279);
}

TEST(MedianInterval, IsTheSameForTheSameSeed) {
  const auto values = around(10, 9, 4);
  const auto one = median_interval(values, 3), two = median_interval(values, 3);
  EXPECT_EQ(one->low, two->low);
  EXPECT_EQ(one->high, two->high);
  EXPECT_LE(one->low, one->middle);
  EXPECT_GE(one->high, one->middle);
  EXPECT_EQ(one->count, 9);
}

TEST(MedianInterval, OfOneOrTwoIsTheirRange) {
  EXPECT_FALSE(median_interval({}));
  EXPECT_EQ(median_interval({5})->low, 5);
  const auto two = median_interval({9, 5});
  EXPECT_EQ(two->low, 5);
  EXPECT_EQ(two->middle, 7);
  EXPECT_EQ(two->high, 9);
}

TEST(MedianInterval, OfFewerThanSixIsTheirRangeAndSaysSo) {
  const auto five = median_interval({5, 1, 2, 9, 3});
  EXPECT_EQ(five->low, 1);
  EXPECT_EQ(five->middle, 3);
  EXPECT_EQ(five->high, 9);
  EXPECT_STREQ(five->kind(), "range");
  EXPECT_STREQ(median_interval({5, 1, 2, 9, 3, 4})->kind(), "interval");
}

TEST(RatioInterval, IsOfThePairsAndLeavesZerosOut) {
  // Each pair shares what its block was like; the ratio does not.
  const auto found = ratio_interval({10, 200, 30, 0, 50}, {20, 400, 60, 8, 0});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->count, 3);
  EXPECT_DOUBLE_EQ(found->middle, 0.5);
  EXPECT_DOUBLE_EQ(found->low, 0.5);
  EXPECT_FALSE(ratio_interval({0}, {1}));
}

TEST(ChangeInterval, FindsADoublingAndNoChange) {
  const auto doubled = change_interval(around(100, 15, 1), around(200, 15, 2));
  EXPECT_GT(doubled->low, 1.3);
  EXPECT_LT(doubled->high, 3);
  const auto same = change_interval(around(100, 15, 3), around(100, 15, 4));
  EXPECT_LT(same->low, 1);
  EXPECT_GT(same->high, 1);
}

TEST(ChangeInterval, IsWiderForMoreConfidence) {
  const auto before = around(100, 15, 5), after = around(100, 15, 6);
  const auto usual = change_interval(before, after);
  const auto wary = change_interval(before, after, 1, 0.999);
  EXPECT_LT(wary->low, usual->low);
  EXPECT_GT(wary->high, usual->high);
}

TEST(ChangeInterval, OfFewIsTheirRangeAndOfNothingNone) {
  const auto few = change_interval({10, 20}, {20, 40, 60});
  EXPECT_DOUBLE_EQ(few->low, 1);
  EXPECT_DOUBLE_EQ(few->high, 6);
  EXPECT_EQ(few->count, 2);
  EXPECT_FALSE(change_interval({}, {1}));
  EXPECT_FALSE(change_interval({0, 0, 0}, {1, 1, 1}));
}

}  // namespace
}  // namespace hearth::lab
