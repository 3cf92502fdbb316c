// SPDX-License-Identifier: Apache-2.0
//
// How long weights stay, through admission, worker and timers together, in virtual time.
#include <gtest/gtest.h>

#include <array>

#include "front/testing/sim_model.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;
using testing::Heard;
using testing::listen;

class ResidencyTest : public testing::SimModel {};

// ---- the matrix: every form in every state ----

struct Form {
  const char* name;
  const char* text;  // empty: none
  std::optional<Duration> stays;
};
enum class State { kLoaded, kNotLoaded, kBusy, kQueued };

class KeepAliveMatrix : public ResidencyTest,
                        public ::testing::WithParamInterface<std::tuple<Form, State>> {};

TEST_P(KeepAliveMatrix, HoldsFromTheLastOnesEnd) {
  const auto& [form, state] = GetParam();
  parallel(state == State::kQueued ? 1 : 4);
  Heard before, heard;
  if (state == State::kLoaded) ask("x", std::nullopt, before);
  const bool shared = state == State::kBusy || state == State::kQueued;
  if (shared) ask("slow", KeepAlive::after(1s), before);
  std::optional<KeepAlive> wish;
  if (*form.text != '\0') wish = KeepAlive::parse(form.text).value();
  ask("x", wish, heard);
  if (shared) {
    EXPECT_FALSE(model_->stay().expires_at_us());
    workers_.pass(15s);
    EXPECT_TRUE(resident());
    let_go();
  }
  ASSERT_TRUE(heard.finished);
  EXPECT_EQ(model_->stay().expires_at_us().has_value(), form.stays.has_value());
  if (!form.stays) {
    workers_.pass(20min);
    EXPECT_TRUE(resident());
    return;
  }
  if (*form.stays > 0s) {
    workers_.pass(*form.stays - 1ms);
    EXPECT_TRUE(resident());
  }
  workers_.pass(1ms);
  EXPECT_EQ(model_->host().level(), WeightsLevel::kHollow);
  EXPECT_EQ(model_->host().weights_cause(), WeightsCause::kIdle);
}

std::string name_of_case(const ::testing::TestParamInfo<std::tuple<Form, State>>& test) {
  constexpr std::array<const char*, 4> kStates{"Loaded", "NotLoaded", "Busy", "Queued"};
  const auto& [form, state] = test.param;
  return std::string{form.name} + kStates[static_cast<std::size_t>(state)];
}

INSTANTIATE_TEST_SUITE_P(
    Residency, KeepAliveMatrix,
    ::testing::Combine(::testing::Values(Form{"None", "", 5min}, Form{"Zero", "0", 0s},
                                         Form{"ZeroMinutes", "0m", 0s}, Form{"Number", "10", 10s},
                                         Form{"Fraction", "1.5", 1500ms}, Form{"Go", "1m30s", 90s},
                                         Form{"Negative", "-1", std::nullopt},
                                         Form{"NegativeGo", "-1m", std::nullopt}),
                       ::testing::Values(State::kLoaded, State::kNotLoaded, State::kBusy,
                                         State::kQueued)),
    name_of_case);

// ---- single stories ----

TEST_F(ResidencyTest, CountingNeitherLoadsNorProlongs) {
  parallel(4);
  Heard first, counted;
  ask("x", KeepAlive::after(10s), first);
  workers_.pass(9s);
  wire::GenerateMessage message = prompt("x");
  message.count_only = true;
  loop_.spawn(listen(begin(message, KeepAlive::until_wanted()), counted));
  workers_.settle();
  ASSERT_TRUE(counted.finished);
  EXPECT_FALSE(counted.finished->report.response_class);
  workers_.pass(1s);
  EXPECT_FALSE(resident());
  Heard again;
  loop_.spawn(listen(begin(message, std::nullopt), again));
  workers_.settle();
  ASSERT_TRUE(again.finished);
  EXPECT_EQ(loads_, 1);
}

TEST_F(ResidencyTest, WhoComesDuringTheUnloadWaitsAndLoadsAgain) {
  parallel(4);
  Heard first, second;
  hold_unloads_ = true;
  ask("x", KeepAlive::after(0s), first);
  workers_.pass(1ms);
  ASSERT_EQ(model_->host().level(), WeightsLevel::kUnloading);
  ask("x", std::nullopt, second);
  EXPECT_FALSE(second.finished);
  let_go();
  ASSERT_TRUE(second.finished);
  EXPECT_EQ(loads_, 2);
  ASSERT_TRUE(second.finished->report.verdict);
  EXPECT_EQ(second.finished->report.verdict->code, VerdictCode::kWeightsIdle);
  EXPECT_NE(second.finished->report.verdict->remedy.find("0s from the request"), std::string::npos)
      << second.finished->report.verdict->remedy;
}

TEST_F(ResidencyTest, TwentyRequestsOfTwoContextsCauseOneLoad) {
  parallel(4);
  std::vector<Heard> heard(20);
  for (std::size_t i = 0; i < heard.size(); ++i) {
    wire::GenerateMessage message = prompt("x");
    message.context_limit = i % 2 == 0 ? 512 : 1024;
    loop_.spawn(listen(begin(message, std::nullopt), heard[i]));
  }
  workers_.settle();
  for (const Heard& one : heard) EXPECT_TRUE(one.finished);
  EXPECT_EQ(loads_, 1);
}

TEST_F(ResidencyTest, WaitersForAColdModelOutliveTheFirst) {
  parallel(4);
  hold_loads_ = true;
  Heard second, third;
  std::unique_ptr<Reply> first = begin(prompt("x"), KeepAlive::after(0s));
  workers_.settle();
  ask("x", std::nullopt, second);
  ask("x", std::nullopt, third);
  first.reset();
  workers_.settle();
  let_go();
  EXPECT_TRUE(second.finished);
  EXPECT_TRUE(third.finished);
  EXPECT_EQ(loads_, 1);
  workers_.pass(4min);
  EXPECT_TRUE(resident());
}

TEST_F(ResidencyTest, APinOutlastsEveryWish) {
  parallel(4);
  Heard heard;
  model_->stay().set_pin(Stay::Pin::kPinned);
  ask("x", KeepAlive::after(0s), heard);
  workers_.pass(1min);
  EXPECT_TRUE(resident());
}

TEST_F(ResidencyTest, ALoadIsARequestWithItsStages) {
  parallel(4);
  Heard heard;
  loop_.spawn(listen(begin(RequestRun::LoadWork{}, KeepAlive::after(10s)), heard));
  workers_.settle();
  ASSERT_TRUE(heard.finished);
  EXPECT_EQ(heard.finished->reason, "load");
  EXPECT_EQ(heard.finished->report.kind, RequestKind::kLoad);
  EXPECT_EQ(heard.finished->report.response_class, ResponseClass::kLoadCold);
  workers_.pass(10s);
  EXPECT_FALSE(resident());
}

TEST_F(ResidencyTest, TokensOfPromptAndReplyComeWhereAsked) {
  parallel(4);
  Heard asked, silent;
  wire::GenerateMessage message = prompt("x");
  message.return_tokens = true;
  loop_.spawn(listen(begin(message, std::nullopt), asked));
  ask("x", std::nullopt, silent);
  EXPECT_EQ(asked.finished->tokens, (std::vector<int>{1, 2, 3}));
  EXPECT_TRUE(silent.finished->tokens.empty());
}

}  // namespace
}  // namespace hearth::front
