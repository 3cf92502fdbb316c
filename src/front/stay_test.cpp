// SPDX-License-Identifier: Apache-2.0
#include "front/stay.h"

#include <gtest/gtest.h>

#include "base/sim_event_loop.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;

class StayTest : public testing::Test {
 protected:
  StayTest() {
    stay_.set_default({KeepAlive::after(5min), "configuration"});
    stay_.resident();
  }

  void ask(const std::optional<KeepAlive>& wish) {
    stay_.arrive();
    stay_.reach(wish);
    stay_.leave(Stay::Left::kServed);
  }

  SimEventLoop loop_;
  int expired_ = 0;
  Stay stay_{loop_, loop_.clock(), [this] { ++expired_; }};
};

TEST_F(StayTest, BeginsWithTheLoad) {
  EXPECT_EQ(stay_.terms().source, "configuration");
  EXPECT_EQ(*stay_.expires_at_us() - loop_.clock().wall_us(), 300'000'000);
  loop_.run_for(5min - 1ms);
  EXPECT_EQ(expired_, 0);
  loop_.run_for(1ms);
  EXPECT_EQ(expired_, 1);
  EXPECT_EQ(stay_.expired()->keep_alive.text(), "5m0s");
  EXPECT_FALSE(stay_.expires_at_us());
}

TEST_F(StayTest, StandsStillWhileSomebodyIsThere) {
  stay_.arrive();
  EXPECT_FALSE(stay_.expires_at_us());
  loop_.run_for(24h);
  EXPECT_EQ(expired_, 0);
  stay_.reach(KeepAlive::after(10s));
  stay_.leave(Stay::Left::kServed);
  EXPECT_EQ(stay_.terms().source, "request");
  loop_.run_for(10s);
  EXPECT_EQ(expired_, 1);
}

TEST_F(StayTest, TheLastRequestThatReachedTheWorkerHolds) {
  ask(KeepAlive::after(10s));
  ask(KeepAlive::until_wanted());
  loop_.run_for(24h);
  EXPECT_EQ(expired_, 0);
  ask(std::nullopt);
  EXPECT_EQ(stay_.terms().source, "configuration");
  loop_.run_for(5min);
  EXPECT_EQ(expired_, 1);
}

TEST_F(StayTest, WhoNeverReachedTheWorkerProlongsNothing) {
  loop_.run_for(4min);
  stay_.arrive();
  loop_.run_for(2min);
  stay_.leave(Stay::Left::kTurnedAway);
  EXPECT_EQ(expired_, 0);
  loop_.run_for(0s);
  EXPECT_EQ(expired_, 1);
}

TEST_F(StayTest, NothingMeansAtOnceButNotWhileOthersAreIn) {
  stay_.arrive();
  stay_.arrive();
  stay_.reach(std::nullopt);
  stay_.reach(KeepAlive::after(0s));
  stay_.leave(Stay::Left::kServed);
  loop_.run_for(1h);
  EXPECT_EQ(expired_, 0);
  stay_.leave(Stay::Left::kServed);
  EXPECT_EQ(expired_, 0);  // never from inside leave()
  loop_.run_for(0s);
  EXPECT_EQ(expired_, 1);
}

TEST_F(StayTest, APinIsALowerBound) {
  stay_.set_pin(Stay::Pin::kPinned);
  ask(KeepAlive::after(0s));
  loop_.run_for(24h);
  EXPECT_EQ(expired_, 0);
  EXPECT_EQ(stay_.terms().source, "pin");
  stay_.set_pin(Stay::Pin::kLoose);
  loop_.run_for(0s);
  EXPECT_EQ(expired_, 1);
}

TEST_F(StayTest, WhatAsksForNothingKeepsNothing) {
  stay_.gone();
  loop_.run_for(24h);
  EXPECT_EQ(expired_, 0);
  EXPECT_FALSE(stay_.expires_at_us());
  stay_.resident();
  loop_.run_for(5min);
  EXPECT_EQ(expired_, 1);
}

TEST_F(StayTest, AWishGoesWithTheWeights) {
  ask(KeepAlive::until_wanted());
  stay_.gone();
  EXPECT_EQ(stay_.terms().source, "configuration");
}

}  // namespace
}  // namespace hearth::front
