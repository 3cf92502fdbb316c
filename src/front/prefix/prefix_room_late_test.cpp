// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <vector>

#include "front/prefix/prefix_room.h"
#include "front/prefix/testing/room_fixture.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;
using testing::prompt;
using testing::RoomFixture;

// Replied, overtaken by another request, and not written yet.
class PrefixRoomLateTest : public ::testing::Test, protected RoomFixture {
 protected:
  void SetUp() override {
    open();
    prefill_rate_ = 1000;
    first_ = begin({.tokens = prompt(1, 200)});
    start(first_);
    room().note_replied(first_.id);
  }
  void overtake() {
    Open other = begin({.tokens = prompt(2, 64)});
    start(other);
  }
  void ask_again() { plan(ask_of(again_, {.tokens = prompt(1, 200)}), frames_); }

  Open first_, again_;
  std::optional<std::vector<wire::Frame>> frames_;
};

TEST_F(PrefixRoomLateTest, IsWaitedFor) {
  overtake();
  ask_again();
  EXPECT_FALSE(frames_);
  finish(first_);
  ASSERT_TRUE(frames_);
  read(again_, *frames_);
  EXPECT_EQ(again_.served.arena, 3);
}

TEST_F(PrefixRoomLateTest, IsWaitedForNoLongerThanIsWorthIt) {
  overtake();
  ask_again();
  pass(90ms);
  EXPECT_FALSE(frames_);
  pass(10ms);
  ASSERT_TRUE(frames_) << "half of the time to evaluate 3 blocks";
  read(again_, *frames_);
  EXPECT_EQ(again_.served.arena, 0);
}

TEST_F(PrefixRoomLateTest, IsNotWaitedForWhereTheCellsAreAsTheyWere) {
  ask_again();
  EXPECT_TRUE(frames_);
}

TEST_F(PrefixRoomLateTest, IsNotWaitedForByOtherPrompts) {
  overtake();
  EXPECT_EQ(begin({.tokens = prompt(3, 200)}).served.arena, 0);
}

TEST_F(PrefixRoomLateTest, ALostWorkerEndsTheWait) {
  overtake();
  ask_again();
  lose_worker("a");
  EXPECT_TRUE(frames_);
}

}  // namespace
}  // namespace hearth::front
