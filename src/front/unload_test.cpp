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

// A client that hung up while its model loaded, and somebody who wants the memory.
class GivenUpLoad : public UnloadTest {
 protected:
  void SetUp() override {
    parallel(4);
    hold_loads_ = true;
    bool leaves = false;
    Result<> left;
    loop_.spawn(wait_for_weights(model_->host(), leaves, left));
    workers_.settle();
    ASSERT_EQ(level(), WeightsLevel::kLoading);
    leaves = true;
    model_->host().poke();
    workers_.settle();
    ASSERT_EQ(left.error().code(), ErrorCode::kCancelled);
    ASSERT_EQ(level(), WeightsLevel::kLoading) << "whoever leaves, it goes on";
  }
  WeightsLevel level() const { return model_->host().level(); }
  void begin_unload() {
    loop_.spawn(unload(model_->host(), {}, unloaded_));
    workers_.settle();
  }
  // The worker's answer to kCancel.
  void give_up() {
    ASSERT_EQ(cancels_, 1);
    held_.clear();
    hold_loads_ = false;
    fail_load("cancelled");
  }

  Result<> unloaded_{fail(ErrorCode::kInternal, "not yet")};
};

TEST_F(GivenUpLoad, AnUnloadDoesNotWaitForIt) {
  begin_unload();
  EXPECT_FALSE(unloaded_);
  give_up();
  EXPECT_TRUE(unloaded_);
  EXPECT_EQ(level(), WeightsLevel::kHollow);
  EXPECT_FALSE(model_->host().failure());
  EXPECT_EQ(loads_, 1);
}

TEST_F(GivenUpLoad, WhoComesMeanwhileGetsTheWeightsAndHearsOfNoFailure) {
  begin_unload();
  const bool stays = false;
  Result<> later{fail(ErrorCode::kInternal, "not yet")};
  Heard heard;
  loop_.spawn(wait_for_weights(model_->host(), stays, later));
  ask("x", std::nullopt, heard);
  give_up();
  EXPECT_TRUE(unloaded_);
  EXPECT_TRUE(later);
  EXPECT_TRUE(heard.finished);
  EXPECT_EQ(loads_, 2);
}

TEST_F(GivenUpLoad, WhatWasLoadedAllTheSameIsUnloaded) {
  begin_unload();
  ASSERT_EQ(cancels_, 1);
  let_go();
  EXPECT_TRUE(unloaded_);
  EXPECT_EQ(level(), WeightsLevel::kHollow);
  EXPECT_TRUE(model_->host().last_load());
}

TEST_F(GivenUpLoad, APinKeepsIt) {
  const auto pinned = []() -> Result<> { return fail(ErrorCode::kConflict, "pinned"); };
  loop_.spawn(unload(model_->host(), pinned, unloaded_));
  workers_.settle();
  EXPECT_EQ(unloaded_.error().code(), ErrorCode::kConflict);
  EXPECT_EQ(cancels_, 0);
  EXPECT_EQ(level(), WeightsLevel::kLoading);
}

TEST_F(UnloadTest, WhatSomebodyWaitsForIsLoadedFirst) {
  parallel(4);
  hold_loads_ = true;
  Heard heard;
  Result<> unloaded{fail(ErrorCode::kInternal, "not yet")};
  ask("slow", std::nullopt, heard);
  loop_.spawn(unload(model_->host(), {}, unloaded));
  workers_.settle();
  EXPECT_EQ(cancels_, 0);
  let_go();
  EXPECT_TRUE(heard.finished);
  EXPECT_TRUE(unloaded);
}

Task<void> store(ModelHost& host, Result<wire::StoredMessage>& result) {
  Fd file = std::move(*Files::real().open_read("/proc/self/exe"));
  std::string content = "c";
  result = co_await host.store_repack(std::move(file), std::move(content));
}

TEST_F(UnloadTest, AnUnloadEndsAStoreAndTheNextOneIsAnswered) {
  parallel(4);
  Heard first, second;
  Result<wire::StoredMessage> broken{wire::StoredMessage{}}, whole = broken;
  Result<> unloaded;
  ask("x", std::nullopt, first);
  loop_.spawn(store(model_->host(), broken));
  workers_.settle();
  loop_.spawn(unload(model_->host(), {}, unloaded));
  workers_.settle();
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code(), ErrorCode::kConflict);
  answer_store("too late");
  ask("x", std::nullopt, second);
  loop_.spawn(store(model_->host(), whole));
  workers_.settle();
  answer_store("");
  EXPECT_TRUE(whole);
  EXPECT_EQ(model_->host().deaths(), 0U);
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
