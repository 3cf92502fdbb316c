// SPDX-License-Identifier: Apache-2.0
#include "worker/slot_choice.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hearth::worker {
namespace {

struct ChoiceCase {
  const char* name;
  std::vector<SlotView> slots;
  std::optional<int> chosen;
};
class SlotChoice : public testing::TestWithParam<ChoiceCase> {};

TEST_P(SlotChoice, Chooses) { EXPECT_EQ(choose_slot(GetParam().slots), GetParam().chosen); }

INSTANTIATE_TEST_SUITE_P(
    Slots, SlotChoice,
    testing::Values(
        ChoiceCase{"AllBusy", {{true, 5, 5, 1}, {true, 0, 0, 0}}, std::nullopt},
        ChoiceCase{"LongestPrefix", {{false, 50, 10, 1}, {false, 90, 20, 9}}, 1},
        ChoiceCase{"BusyDoesNotCount", {{true, 50, 50, 1}, {false, 9, 0, 9}}, 1},
        ChoiceCase{"EqualPrefixLosesLeast", {{false, 90, 10, 1}, {false, 20, 10, 9}}, 1},
        ChoiceCase{"EmptyBeforeStrangers", {{false, 90, 0, 1}, {false, 0, 0, 9}}, 1},
        ChoiceCase{"UnusedForLongest", {{false, 9, 0, 7}, {false, 9, 0, 3}, {false, 9, 0, 5}}, 1}),
    [](const auto& test) { return std::string{test.param.name}; });

TEST(CommonPrefix, CountsTokensFromTheBeginning) {
  using Tokens = std::vector<engine::Token>;
  EXPECT_EQ(common_prefix(Tokens{}, Tokens{1}), 0);
  EXPECT_EQ(common_prefix(Tokens{1, 2, 3}, Tokens{1, 2, 4, 3}), 2);
  EXPECT_EQ(common_prefix(Tokens{1, 2}, Tokens{1, 2, 3}), 2);
  EXPECT_EQ(common_prefix(Tokens{1, 2, 3}, Tokens{1, 2}), 2);
}

}  // namespace
}  // namespace hearth::worker
