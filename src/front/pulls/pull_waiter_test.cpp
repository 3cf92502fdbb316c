// SPDX-License-Identifier: Apache-2.0
#include "front/pulls/pull_waiter.h"

#include <gtest/gtest.h>

#include "base/sim_event_loop.h"

namespace hearth::front {
namespace {

class PullWaiterTest : public ::testing::Test {
 protected:
  std::unique_ptr<PullWaiter> waiter() {
    return std::make_unique<PullWaiter>(loop_, "",
                                        [this](PullWaiter&, PullWaiter::Left how) { left_ = how; });
  }
  static Task<void> take(PullWaiter& from, std::optional<TransferEvent>* into) {
    into->emplace(co_await from.next());
  }
  std::optional<TransferEvent> next(PullWaiter& from) {
    std::optional<TransferEvent> event;
    loop_.spawn(take(from, &event));
    loop_.run_ready();
    return event;
  }

  SimEventLoop loop_;
  std::optional<PullWaiter::Left> left_;
};

TEST_F(PullWaiterTest, ADetachedOneIsToldUntilItLeaves) {
  auto detached = waiter();
  detached->detach();
  EXPECT_FALSE(left_);
  TransferProgress progress;
  progress.stage = "download";
  detached->tell(progress);
  const auto event = next(*detached);
  ASSERT_TRUE(event);
  EXPECT_EQ(std::get<TransferProgress>(*event).stage, "download");
  detached.reset();
  EXPECT_EQ(left_, PullWaiter::Left::kDetached);
}

TEST_F(PullWaiterTest, ACancelledOneSaysHowItLeft) {
  for (const bool detach : {false, true}) {
    auto cancelled = waiter();
    if (detach) cancelled->detach();
    cancelled->cancel();
    EXPECT_EQ(left_, detach ? PullWaiter::Left::kDetached : PullWaiter::Left::kGone);
    left_.reset();
    cancelled.reset();
    EXPECT_FALSE(left_) << "once is enough";
  }
}

TEST_F(PullWaiterTest, AfterTheEndNobodyLeaves) {
  auto finished = waiter();
  finished->detach();
  finished->finish(TransferDone{}, {});
  finished.reset();
  EXPECT_FALSE(left_);
}

}  // namespace
}  // namespace hearth::front
