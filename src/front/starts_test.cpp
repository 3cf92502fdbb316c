// SPDX-License-Identifier: Apache-2.0
//
// Forecasts of one model's starts, and what is learnt from them, in virtual time.
#include "front/starts.h"

#include <gtest/gtest.h>

#include "front/model_status.h"
#include "front/testing/sim_model.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;
using testing::Heard;

class StartsTest : public testing::SimModel {
 protected:
  // One request whose load takes so long.
  void start_cold(Duration load) {
    hold_loads_ = true;
    Heard heard;
    ask("slow", std::nullopt, heard);  // a worker answers nothing before it has loaded
    workers_.pass(load);
    hold_loads_ = false;
    let_go();
    ASSERT_TRUE(heard.finished);
  }
  // The first of them starts a worker as well, which takes no time here.
  void learn_to_start(Duration load) {
    for (int i = 0; i < 4; ++i) {
      start_cold(load);
      give_back();
    }
  }
  void give_back() {
    loop_.spawn(unload(*model_));
    workers_.settle();
    ASSERT_FALSE(resident());
  }
  static Task<void> unload(Model& model) {
    (void)co_await model.host().unload(WeightsCause::kAsked);
  }
  double forecast_ms() { return milliseconds_of(model_->outlook().at(3).time); }
};

TEST_F(StartsTest, ANewModelIsAGuess) {
  parallel(4);
  const Forecast forecast = model_->outlook().at(Model::kShortPrompt);
  EXPECT_FALSE(forecast.known);
  EXPECT_GT(forecast.time, Duration::zero());
  EXPECT_EQ(model_->eta_ms(), std::nullopt);
}

TEST_F(StartsTest, AStartIsForecastByThoseBefore) {
  parallel(4);
  learn_to_start(900ms);
  EXPECT_NEAR(forecast_ms(), 900, 60);
  start_cold(900ms);
  const std::vector<double> errors = model_->starts().errors();
  ASSERT_EQ(errors.size(), 5U);
  EXPECT_LT(errors.front(), -0.5);  // the guess
  EXPECT_NEAR(errors.back(), 0, 0.1);
}

TEST_F(StartsTest, EachFirstTokenIsHeldToItsForecast) {
  parallel(4);
  start_cold(900ms);
  EXPECT_NE(metrics_.text().find("hearth_predictor_error_ratio_count{class="), std::string::npos);
}

TEST_F(StartsTest, ALoadUnderWayIsForecastByWhatRemains) {
  parallel(4);
  learn_to_start(900ms);
  hold_loads_ = true;
  Heard heard;
  ask("slow", std::nullopt, heard);
  const double whole = forecast_ms();
  workers_.pass(400ms);
  EXPECT_NEAR(forecast_ms(), whole - 400, 30);
  EXPECT_EQ(model_->outlook().start_class, StartClass::kLoading);
  workers_.pass(10s);
  EXPECT_GT(forecast_ms(), 0);  // late, but it cannot be over
  hold_loads_ = false;
  let_go();
}

TEST_F(StartsTest, WhoCountsOnlyIsNoStart) {
  parallel(4);
  wire::GenerateMessage count = prompt("x");
  count.count_only = true;
  Heard heard;
  loop_.spawn(listen(begin(count, std::nullopt), heard));
  workers_.settle();
  EXPECT_TRUE(model_->starts().errors().empty());
}

TEST_F(StartsTest, PlacesAreWaitedFor) {
  parallel(1);
  start_cold(900ms);
  Heard first, second;
  ask("slow", std::nullopt, first);
  workers_.pass(2s);
  EXPECT_GT(model_->outlook().ahead, Duration::zero());
  EXPECT_GE(model_->retry_after_s(), 1);
  let_go();
  EXPECT_EQ(model_->outlook().ahead, Duration::zero());
}

TEST_F(StartsTest, PrefillBesideALoadIsNotLearnt) {
  parallel(4);
  const TimePoint now = loop_.now();
  load_stages_ = {Stage{StageKind::kRead, now, now + 400ms, Bytes{}}};
  Heard heard;
  ask("x", std::nullopt, heard);
  ASSERT_TRUE(resident());
  wire::StartedMessage started;
  started.prompt_tokens = 64;
  started.stages = {Stage{StageKind::kPrefill, now + 399ms, now + 900ms, Bytes{}}};
  model_->learn_prefill(started);
  EXPECT_FALSE(model_->outlook().prefill.measured());
  EXPECT_EQ(model_->rates().prefill_tokens_per_s, std::nullopt);
  started.stages = {Stage{StageKind::kPrefill, now + 400ms, now + 900ms, Bytes{}}};
  model_->learn_prefill(started);
  EXPECT_TRUE(model_->outlook().prefill.measured());
  EXPECT_NEAR(model_->rates().prefill_tokens_per_s.value_or(0), 128, 1);
}

TEST(PredictedTtft, TellsItsInterval) {
  Predictor predictor;
  const PredictedTtft told = predicted_ttft(predictor.outlook("m", {}), {0.1, -0.2});
  EXPECT_GT(told.low_ms, 0);
  EXPECT_LT(told.low_ms, told.ms);
  EXPECT_GT(told.high_ms, told.ms);
  EXPECT_FALSE(told.known);
  EXPECT_EQ(told.start, "storage-cold");
  EXPECT_EQ(told.errors.size(), 2U);
}

}  // namespace
}  // namespace hearth::front
