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
  std::optional<SlotChoice> chosen;
};
class ChoosesSlot : public testing::TestWithParam<ChoiceCase> {};

TEST_P(ChoosesSlot, ByWhatIsSavedAndLost) {
  EXPECT_EQ(choose_slot(GetParam().slots), GetParam().chosen);
}

using Choice = SlotChoice;
INSTANTIATE_TEST_SUITE_P(
    Slots, ChoosesSlot,
    testing::Values(
        ChoiceCase{"NoneAtAll", {}, std::nullopt},
        ChoiceCase{"AllBusy", {{true, 5, 5, 1}, {true, 0, 0, 0}}, std::nullopt},
        ChoiceCase{"LongestPrefix", {{false, 50, 10, 1}, {false, 60, 20, 9}}, Choice{1, 1}},
        ChoiceCase{"BusyShares", {{true, 50, 50, 1}, {false, 9, 0, 9}}, Choice{1, 0}},
        ChoiceCase{"EqualPrefixLosesLeast", {{false, 60, 10, 1}, {false, 20, 10, 9}}, Choice{1, 1}},
        ChoiceCase{"FreeBeforeBusy", {{true, 20, 10, 1}, {false, 60, 10, 9}}, Choice{1, 1}},
        ChoiceCase{"ConversationIsSpared", {{false, 900, 300, 1}, {false, 0, 0, 0}}, Choice{1, 0}},
        ChoiceCase{"ConversationIsSparedForAnOldOne",
                   {{false, 900, 300, 1}, {false, 800, 0, 7}, {false, 700, 0, 3}},
                   Choice{2, 0}},
        ChoiceCase{"OnlyOneIsFree", {{false, 900, 300, 1}, {true, 0, 0, 0}}, Choice{0, 0}},
        ChoiceCase{"OnlyOneThereIs", {{false, 900, 300, 1}}, Choice{0, 0}},
        ChoiceCase{"EmptyBeforeStrangers", {{false, 90, 0, 1}, {false, 0, 0, 9}}, Choice{1, 1}},
        ChoiceCase{"UnusedForLongest",
                   {{false, 90, 0, 7}, {false, 90, 0, 3}, {false, 90, 0, 5}},
                   Choice{1, 1}}),
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
