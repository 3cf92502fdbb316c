// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lab/trial_runner.h"

namespace hearth::lab {
namespace {

TEST(Randomised, HasEachArmOfEachSideOnceInABlock) {
  std::vector<StateSpec> states(4);
  for (std::size_t n = 0; n < states.size(); ++n) states[n].name = std::string(1, 'a' + char(n));
  const std::vector<Plan> plans = randomised("classes", states, 2, 5, 7);
  ASSERT_EQ(plans.size(), 40U);
  std::map<int, std::set<std::pair<std::size_t, std::size_t>>> blocks;
  int hearth_first = 0;
  std::set<std::string> orders;
  for (std::size_t n = 0; n < plans.size(); ++n) {
    EXPECT_EQ(plans[n].arm, states[plans[n].state].name);
    EXPECT_EQ(plans[n].arm, plans[n / 2 * 2].arm) << "sides alternate within an arm";
    blocks[plans[n].block].emplace(plans[n].side, plans[n].state);
    if (n % 2 == 0 && plans[n].side == 0) ++hearth_first;
  }
  for (const auto& [block, made] : blocks) EXPECT_EQ(made.size(), 8U);
  EXPECT_EQ(hearth_first, 10) << "each goes first half of the time";
  for (std::size_t block = 0; block < 5; ++block) {
    std::string order;
    for (std::size_t n = 0; n < 8; n += 2) order += plans[block * 8 + n].arm;
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 1U);
}

TEST(Randomised, IsDecidedByTheSeed) {
  std::vector<StateSpec> states(6);
  for (std::size_t n = 0; n < states.size(); ++n) states[n].name = std::string(1, 'a' + char(n));
  const auto text = [&](std::uint64_t seed) {
    std::string order;
    for (const Plan& plan : randomised("classes", states, 2, 3, seed)) order += plan.arm;
    return order;
  };
  EXPECT_EQ(text(1), text(1));
  EXPECT_NE(text(1), text(2));
}

}  // namespace
}  // namespace hearth::lab
