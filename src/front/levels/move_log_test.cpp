// SPDX-License-Identifier: Apache-2.0
#include "front/levels/move_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hearth::front {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

MoveRecord one(std::string model) {
  MoveRecord move;
  move.model = std::move(model);
  move.layer = "weights";
  move.from = "resident";
  move.to = "hollow";
  move.cause = "pressure";
  return move;
}

TEST(MoveLog, ListsTheNewestFirst) {
  MoveLog log;
  log.add(one("first"));
  log.add(one("second"));
  const std::string text = log.json();
  EXPECT_LT(text.find("second"), text.find("first"));
  EXPECT_THAT(text, HasSubstr("\"total\":2"));
  EXPECT_THAT(text, Not(HasSubstr("\"for\"")));
}

TEST(MoveLog, KeepsABoundedNumberAndCountsAll) {
  MoveLog log;
  for (std::size_t i = 0; i < MoveLog::kMost + 3; ++i) log.add(one("m"));
  EXPECT_EQ(log.moves().size(), MoveLog::kMost);
  EXPECT_EQ(log.total(), MoveLog::kMost + 3);
}

TEST(MoveLog, WhatFailedIsToldAndNotCounted) {
  MoveLog log;
  MoveRecord move = one("m");
  move.error = "it is pinned";
  log.add(std::move(move));
  EXPECT_THAT(log.json(), HasSubstr("it is pinned"));
  EXPECT_EQ(log.total(), 0U);
}

}  // namespace
}  // namespace hearth::front
