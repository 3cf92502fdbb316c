// SPDX-License-Identifier: Apache-2.0
#include "policy/quantile.h"

#include <gtest/gtest.h>

namespace hearth {
namespace {

struct QuantileCase {
  const char* name;
  std::vector<Weighted> values;
  double q;
  std::optional<double> expected;
};

class Quantiles : public testing::TestWithParam<QuantileCase> {};

TEST_P(Quantiles, AreWhereTheWeightLies) {
  const std::optional<double> found = quantile(GetParam().values, GetParam().q);
  ASSERT_EQ(found.has_value(), GetParam().expected.has_value());
  EXPECT_DOUBLE_EQ(found.value_or(0), GetParam().expected.value_or(0));
}

INSTANTIATE_TEST_SUITE_P(
    Table, Quantiles,
    testing::Values(QuantileCase{"Nothing", {}, 0.5, std::nullopt},
                    QuantileCase{"NoWeight", {{3, 0}}, 0.5, std::nullopt},
                    QuantileCase{"One", {{3, 1}}, 0.9, 3.0},
                    QuantileCase{"MiddleOfThree", {{9, 1}, {1, 1}, {2, 1}}, 0.5, 2.0},
                    QuantileCase{"BetweenTwo", {{1, 1}, {3, 1}}, 0.5, 2.0},
                    QuantileCase{"AWildOneMovesLittle", {{1, 1}, {1, 1}, {1000, 1}}, 0.5, 1.0},
                    QuantileCase{"TheHeavyOne", {{1, 9}, {5, 1}}, 0.45, 1.0},
                    QuantileCase{"Lowest", {{1, 1}, {2, 1}, {3, 1}}, 0.0, 1.0},
                    QuantileCase{"Highest", {{1, 1}, {2, 1}, {3, 1}}, 1.0, 3.0}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth
