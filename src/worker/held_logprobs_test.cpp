// SPDX-License-Identifier: Apache-2.0
#include "worker/held_logprobs.h"

#include <gtest/gtest.h>

#include <string>

namespace hearth::worker {
namespace {

wire::TokenLogprob token(int id) { return {{id, "", 0}, {}}; }

std::string ids(HeldLogprobs& held) {
  std::string out;
  for (const wire::TokenLogprob& told : held.take()) out += std::to_string(told.chosen.token);
  return out;
}

TEST(HeldLogprobs, GoOutWithTheirText) {
  HeldLogprobs held;
  held.add(token(1), 3);
  held.let_go(3);
  EXPECT_EQ(ids(held), "1");
  EXPECT_EQ(ids(held), "");
}

TEST(HeldLogprobs, TokensOfOneCharacterGoTogether) {
  HeldLogprobs held;
  held.add(token(1), 2);
  held.let_go(0);
  EXPECT_EQ(ids(held), "");
  held.add(token(2), 2);
  held.let_go(4);
  EXPECT_EQ(ids(held), "12");
}

TEST(HeldLogprobs, OfAStopStringOnlyTheTokenThatItBeginsInGoes) {
  HeldLogprobs held;
  held.add(token(1), 4);
  held.add(token(2), 4);
  held.add(token(3), 4);
  held.let_go(6);
  EXPECT_EQ(ids(held), "12");
}

TEST(HeldLogprobs, ATokenWithoutTextGoesOnceWhatIsBeforeItHasGone) {
  HeldLogprobs held;
  held.add(token(1), 2);
  held.add(token(2), 0);
  held.add(token(3), 1);
  held.let_go(2);
  EXPECT_EQ(ids(held), "12");
}

TEST(HeldLogprobs, AtTheEndAllGo) {
  HeldLogprobs held;
  held.add(token(1), 2);
  held.add(token(2), 1);
  held.let_all_go();
  EXPECT_EQ(ids(held), "12");
}

}  // namespace
}  // namespace hearth::worker
