// SPDX-License-Identifier: Apache-2.0
//
// How weights go, and who waits for that, in virtual time.
#include <gtest/gtest.h>

#include "front/testing/sim_model.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;
using testing::Heard;

class UnloadTest : public testing::SimModel {};

Task<void> unload(ModelHost& host, ModelHost::Check check, Result<>& result) {
  result = co_await host.unload(WeightsCause::kAsked, std::move(check));
}

// A pin that came while the last reply was being written, say.
TEST_F(UnloadTest, AnUnloadAsksAgainOnceAllHaveLeft) {
  parallel(4);
  Heard busy, waiting;
  ask("slow", std::nullopt, busy);
  int asked = 0;
  Result<> unloaded;
  const auto refuse = [&asked]() -> Result<> {
    ++asked;
    return fail(ErrorCode::kConflict, "pinned");
  };
  loop_.spawn(unload(model_->host(), refuse, unloaded));
  ask("x", std::nullopt, waiting);
  EXPECT_EQ(asked, 0);
  EXPECT_FALSE(waiting.finished);
  let_go();
  EXPECT_EQ(asked, 1);
  ASSERT_FALSE(unloaded);
  EXPECT_EQ(unloaded.error().code(), ErrorCode::kConflict);
  EXPECT_TRUE(waiting.finished);
  EXPECT_EQ(loads_, 1);
}

Task<void> release(Model& model, bool& returned) {
  const Result<> released = co_await model.release();
  EXPECT_TRUE(released);
  returned = true;
}

TEST_F(UnloadTest, AReleaseWaitsForNobodyAndTheWeightsGoLast) {
  parallel(4);
  Heard busy;
  bool returned = false;
  ask("slow", std::nullopt, busy);
  loop_.spawn(release(*model_, returned));
  workers_.settle();
  EXPECT_TRUE(returned);
  EXPECT_TRUE(resident());
  let_go();
  ASSERT_TRUE(busy.finished);
  workers_.pass(1ms);
  EXPECT_FALSE(resident());
}

TEST_F(UnloadTest, AReleaseLetsNobodyWait) {
  parallel(4);
  Heard busy, later;
  bool returned = false;
  ask("slow", std::nullopt, busy);
  loop_.spawn(release(*model_, returned));
  ask("x", std::nullopt, later);
  EXPECT_TRUE(later.finished);
  let_go();
  workers_.pass(1min);
  EXPECT_TRUE(resident());  // the later one had the last word
}

TEST_F(UnloadTest, AReleaseOfWhatNobodyUsesReturnsWhenItIsGone) {
  parallel(4);
  Heard heard;
  bool returned = false;
  ask("x", std::nullopt, heard);
  hold_unloads_ = true;
  loop_.spawn(release(*model_, returned));
  workers_.settle();
  EXPECT_FALSE(returned);
  let_go();
  EXPECT_TRUE(returned);
  EXPECT_FALSE(resident());
  EXPECT_EQ(model_->host().weights_cause(), WeightsCause::kAsked);
}

Task<void> wait_for_weights(ModelHost& host, const bool& cancelled, Result<>& result) {
  result = co_await host.ensure_resident(&cancelled);
}

TEST_F(UnloadTest, WhatNobodyWaitsForAnyMoreIsNotLoadedAgain) {
  parallel(4);
  Heard heard;
  bool gives_up = false, stays = false;
  Result<> first, second;
  hold_unloads_ = true;
  ask("x", KeepAlive::after(0s), heard);
  workers_.pass(1ms);
  ASSERT_EQ(model_->host().level(), WeightsLevel::kUnloading);
  loop_.spawn(wait_for_weights(model_->host(), gives_up, first));
  gives_up = true;
  model_->host().poke();
  workers_.settle();
  let_go();
  EXPECT_EQ(first.error().code(), ErrorCode::kCancelled);
  EXPECT_EQ(loads_, 1);
  loop_.spawn(wait_for_weights(model_->host(), stays, second));
  workers_.settle();
  EXPECT_TRUE(second);
  EXPECT_EQ(loads_, 2);
}

TEST_F(UnloadTest, ALoadThatNoRequestBeganIsCountedOnce) {
  parallel(4);
  bytes_read_ = Bytes{4096};
  const bool cancelled = false;
  Result<> loaded;
  loop_.spawn(wait_for_weights(model_->host(), cancelled, loaded));
  workers_.settle();
  ASSERT_TRUE(loaded);
  EXPECT_NE(metrics_.text().find("hearth_bytes_read_total 4096"), std::string::npos);
}

TEST_F(UnloadTest, ALoadThatARequestBeganIsInItsReport) {
  parallel(4);
  bytes_read_ = Bytes{4096};
  Heard heard;
  ask("x", std::nullopt, heard);
  ASSERT_TRUE(heard.finished);
  EXPECT_EQ(heard.finished->report.bytes_read, Bytes{4096});
  EXPECT_EQ(metrics_.text().find("hearth_bytes_read_total 4096"), std::string::npos);
}

}  // namespace
}  // namespace hearth::front
