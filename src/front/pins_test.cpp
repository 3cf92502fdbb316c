// SPDX-License-Identifier: Apache-2.0
#include "front/pins.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/sim_event_loop.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;

class PinsTest : public ::testing::Test {
 protected:
  ~PinsTest() override {
    loop_.spawn(pins_.stop());
    loop_.run_for(length_);
  }

  // Each attempt takes `length_`.
  static Task<Result<>> attempt(PinsTest* test) {
    test->attempts_.push_back(test->loop_.now() - TimePoint{});
    co_await test->loop_.sleep(test->length_);
    test->holds_ = test->works_;
    if (test->works_) co_return Result<>{};
    co_return fail(ErrorCode::kNoSpace, "no room");
  }
  void lose() {
    holds_ = false;
    pins_.look_again();
  }
  // From the end of the attempt `n` to the begin of the next one.
  Duration pause_after(std::size_t n) const {
    return attempts_.at(n + 1) - attempts_.at(n) - length_;
  }

  SimEventLoop loop_;
  Duration length_ = 1ms;
  bool works_ = true;
  bool holds_ = false;
  std::vector<Duration> attempts_;
  std::vector<PinKey> let_go_;
  const PinKey pin_{"a", "weights"};
  Pins pins_{Pins::World{loop_, [this](const PinKey&) { return holds_; },
                         [this](PinKey) { return attempt(this); },
                         [this](const PinKey& pin) { let_go_.push_back(pin); }}};
};

TEST_F(PinsTest, WhatIsLostIsHeldAgain) {
  pins_.set({pin_});
  loop_.run_for(10min);
  EXPECT_EQ(attempts_.size(), 1U);
  lose();
  loop_.run_for(1s);
  EXPECT_EQ(attempts_.size(), 2U);
  EXPECT_TRUE(holds_);
}

TEST_F(PinsTest, ThePauseGrowsHoweverLongAnAttemptTakes) {
  works_ = false;
  length_ = 2min;
  pins_.set({pin_});
  loop_.run_for(24h);
  EXPECT_EQ(pause_after(0), 100ms);
  EXPECT_EQ(pause_after(1), 200ms);
  EXPECT_EQ(pause_after(2), 400ms);
  EXPECT_EQ(pause_after(attempts_.size() - 2), 5min);
}

TEST_F(PinsTest, WhatHeldForAWhileBeginsAnew) {
  works_ = false;
  pins_.set({pin_});
  loop_.run_for(1h);
  works_ = true;
  loop_.run_for(5min + 1s);
  ASSERT_TRUE(holds_);
  loop_.run_for(2min);
  lose();
  loop_.run_for(100ms + length_);
  EXPECT_TRUE(holds_);
}

TEST_F(PinsTest, WhatIsPinnedNoLongerIsLetGo) {
  pins_.set({pin_});
  loop_.run_for(1s);
  pins_.set({});
  loop_.run_ready();
  EXPECT_EQ(let_go_, std::vector<PinKey>{pin_});
  lose();
  loop_.run_for(1h);
  EXPECT_EQ(attempts_.size(), 1U);
}

// Loose and pinned again while it is being made true: one task goes on with it.
TEST_F(PinsTest, IsTendedOnce) {
  length_ = 1s;
  pins_.set({pin_});
  pins_.set({});
  pins_.set({pin_});
  loop_.run_for(10s);
  EXPECT_EQ(attempts_.size(), 1U);
  EXPECT_TRUE(let_go_.empty());
}

}  // namespace
}  // namespace hearth::front
