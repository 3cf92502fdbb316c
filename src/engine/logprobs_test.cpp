// SPDX-License-Identifier: Apache-2.0
#include "engine/logprobs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace hearth::engine {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

TEST(LogprobsOf, IsTheLogarithmOfTheSoftmax) {
  const std::vector<float> logits{std::log(1.0F), std::log(2.0F), std::log(5.0F)};
  const Logprobs told = logprobs_of(logits, 1, 2);
  EXPECT_NEAR(told.chosen, std::log(0.25), 1e-6);
  ASSERT_EQ(told.top.size(), 2U);
  EXPECT_EQ(told.top[0].token, 2);
  EXPECT_NEAR(told.top[0].logprob, std::log(0.625), 1e-6);
  EXPECT_EQ(told.top[1].token, 1);
}

TEST(LogprobsOf, WithoutAlternativesTellsTheChosenAlone) {
  EXPECT_TRUE(logprobs_of(std::vector<float>{0, 1}, 0, 0).top.empty());
}

TEST(LogprobsOf, OfEqualsTheLowerTokenComesFirst) {
  const Logprobs told = logprobs_of(std::vector<float>{1, 3, 3, 3, 2}, 1, 3);
  ASSERT_EQ(told.top.size(), 3U);
  EXPECT_EQ(told.top[0].token, 1);
  EXPECT_EQ(told.top[1].token, 2);
  EXPECT_EQ(told.top[2].token, 3);
}

TEST(LogprobsOf, AsksForNoMoreThanThereAre) {
  EXPECT_EQ(logprobs_of(std::vector<float>{1, 2}, 0, 20).top.size(), 2U);
}

TEST(LogprobsOf, LargeLogitsDoNotOverflow) {
  const Logprobs told = logprobs_of(std::vector<float>{30000, 30000}, 0, 1);
  EXPECT_NEAR(told.chosen, std::log(0.5), 1e-6);
}

TEST(LogprobsOf, WhatCouldNotComeHasTheLeast) {
  const Logprobs told = logprobs_of(std::vector<float>{0, kNever}, 1, 2);
  EXPECT_EQ(told.chosen, kLeastLogprob);
  EXPECT_EQ(told.top[1].logprob, kLeastLogprob);
  EXPECT_NEAR(told.top[0].logprob, 0, 1e-9);
}

}  // namespace
}  // namespace hearth::engine
