// SPDX-License-Identifier: Apache-2.0
//
// What a request tells its worker of kept prompt state, and what comes of it, in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "front/testing/fake_plans.h"
#include "front/testing/sim_model.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;
using testing::answer;
using ::testing::ElementsAre;
using testing::FakePlans;
using ::testing::HasSubstr;
using testing::Heard;
using ::testing::IsEmpty;
using ::testing::Not;
using wire::Frame;
using wire::FrameType;

constexpr int kPromptTokens = 200;

// Its worker tokenizes at once, starts when it has its plan, and says then what it has kept.
class RequestPrefixTest : public testing::SimModel {
 protected:
  void SetUp() override {
    prefixes_ = &plans_;
    parallel(4);
  }
  // The host asks the plans to its end.
  ~RequestPrefixTest() override {
    plans_.release();
    loop_.spawn(model_->host().stop());
    workers_.settle();
  }

  bool script(wire::BlockingChannel& channel, const Frame& frame) override {
    if (frame.type == FrameType::kArena) arenas_ += static_cast<int>(frame.descriptors.size());
    if (frame.type == FrameType::kCancel && frame.request != 0) {
      if (waiting_.erase(frame.request) > 0) end(channel, frame.request, "cancelled");
      return true;
    }
    if (frame.type == FrameType::kPrefixPlan) return take_plan(channel, frame);
    if (frame.type != FrameType::kGenerate) return SimModel::script(channel, frame);
    const auto message = wire::decode_generate(frame.payload);
    EXPECT_TRUE(message);
    asked_.push_back(*message);
    if (message->count_only) {
      tokenize(channel, frame.request);
      end(channel, frame.request, "counted");
      return true;
    }
    if (!message->plan_prefix) return SimModel::script(channel, frame);
    tokenize(channel, frame.request);
    waiting_[frame.request] = true;
    return !std::exchange(dies_, false);
  }

  static void tokenize(wire::BlockingChannel& channel, std::uint64_t request) {
    wire::TokenizedMessage tokenized;
    tokenized.tokens.resize(kPromptTokens);
    std::iota(tokenized.tokens.begin(), tokenized.tokens.end(), 1);
    answer(channel, FrameType::kTokenized, request, wire::encode(tokenized));
  }

  bool take_plan(wire::BlockingChannel& channel, const Frame& frame) {
    const auto plan = wire::decode_prefix_plan(frame.payload);
    EXPECT_TRUE(plan);
    told_.push_back({frame.request, *plan});
    if (plan->more || waiting_.erase(frame.request) == 0) return true;
    if (std::exchange(dies_with_plan_, false)) return false;
    if (fails_) {
      wire::FailedMessage failed;
      failed.code = "no_space";
      failed.message = "no cells";
      answer(channel, FrameType::kFailed, frame.request, wire::encode(failed));
      return true;
    }
    answer(channel, FrameType::kStarted, frame.request, wire::encode(started_));
    end(channel, frame.request, "stop");
    if (!late_blocks_) tell_blocks(channel, frame.request);
    return true;
  }

  void tell_blocks(wire::BlockingChannel& channel, std::uint64_t request) const {
    wire::BlocksMessage blocks;
    blocks.sizes = {Bytes{5000}};
    answer(channel, FrameType::kBlocks, request, broken_blocks_ ? "[]" : wire::encode(blocks));
  }

  void end(wire::BlockingChannel& channel, std::uint64_t request, const std::string& reason) {
    wire::DoneMessage done;
    done.reason = reason;
    done.prompt_tokens = started_.prompt_tokens;
    done.cached_tokens = started_.cached_tokens;
    answer(channel, FrameType::kDone, request, wire::encode(done));
  }

  void ask_prompt(wire::GenerateMessage message, Heard& heard) {
    loop_.spawn(testing::listen(begin(std::move(message), std::nullopt), heard));
    workers_.settle();
  }
  void ask_plainly(Heard& heard) { ask_prompt(prompt("x"), heard); }

  struct Told {
    std::uint64_t request;
    wire::PrefixPlanMessage plan;
  };
  FakePlans plans_{loop_};
  std::vector<wire::GenerateMessage> asked_;
  std::vector<Told> told_;
  std::map<std::uint64_t, bool> waiting_;
  wire::StartedMessage started_{kPromptTokens, 0, {}, {}};
  int arenas_ = 0;
  bool dies_ = false;
  bool dies_with_plan_ = false;
  bool fails_ = false;
  bool late_blocks_ = false;
  bool broken_blocks_ = false;
};

TEST_F(RequestPrefixTest, APromptIsPlannedBeforeItStarts) {
  Heard heard;
  ask_plainly(heard);
  ASSERT_TRUE(heard.finished);
  EXPECT_EQ(plans_.heard, "arena a;plan 1;blocks 1 1;started 1;");
  EXPECT_EQ(arenas_, 1);
  ASSERT_EQ(asked_.size(), 1U);
  EXPECT_TRUE(asked_[0].plan_prefix);
  EXPECT_EQ(asked_[0].domain, "root of group of ");
  ASSERT_EQ(plans_.asks.size(), 1U);
  const PrefixRoom::Ask& ask = plans_.asks[0];
  EXPECT_EQ(ask.domain, asked_[0].domain);
  EXPECT_EQ(ask.use.artifact, "a");
  EXPECT_EQ(ask.use.ready.backend, "scripted");
  EXPECT_EQ(ask.use.options.parallel, 4);
  EXPECT_EQ(ask.tokens.size(), std::size_t{kPromptTokens});
  EXPECT_EQ(told_.size(), 1U);
}

struct LengthCase {
  const char* name;
  int max_tokens;
  int expected;
};
class ReplyLength : public RequestPrefixTest, public ::testing::WithParamInterface<LengthCase> {};

TEST_P(ReplyLength, IsGuessedWithinTheContext) {
  Heard heard;
  wire::GenerateMessage message = prompt("x");
  message.max_tokens = GetParam().max_tokens;
  ask_prompt(std::move(message), heard);
  EXPECT_EQ(plans_.asks.at(0).max_generated, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(Prefix, ReplyLength,
                         ::testing::Values(LengthCase{"NotSaid", -1, 512},
                                           LengthCase{"Said", 100, 100},
                                           LengthCase{"BeyondTheContext", 100'000, 1848}),
                         [](const auto& test) { return test.param.name; });

struct NoPlanCase {
  const char* name;
  void (*change)(wire::GenerateMessage&);
};
class NoPlan : public RequestPrefixTest, public ::testing::WithParamInterface<NoPlanCase> {};

TEST_P(NoPlan, IsMade) {
  Heard heard;
  wire::GenerateMessage message = prompt("x");
  message.domain = "of a stranger";
  GetParam().change(message);
  ask_prompt(std::move(message), heard);
  ASSERT_TRUE(heard.finished);
  EXPECT_TRUE(plans_.asks.empty());
  EXPECT_FALSE(asked_.at(0).plan_prefix);
  EXPECT_EQ(asked_.at(0).domain, "");
  EXPECT_FALSE(heard.finished->report.prefix);
}

INSTANTIATE_TEST_SUITE_P(
    Prefix, NoPlan,
    ::testing::Values(NoPlanCase{"ForACount", [](auto& message) { message.count_only = true; }},
                      NoPlanCase{"WhereNothingMayBeKept",
                                 [](auto& message) { message.cache_prompt = false; }}),
    [](const auto& test) { return test.param.name; });

TEST_F(RequestPrefixTest, WithoutTheLayerNothingIsAsked) {
  prefixes_ = nullptr;
  parallel(4);
  Heard heard;
  ask_plainly(heard);
  ASSERT_TRUE(heard.finished);
  EXPECT_FALSE(asked_.at(0).plan_prefix);
  EXPECT_EQ(plans_.heard, "");
}

TEST_F(RequestPrefixTest, FramesOfAPlanKeepTheirOrder) {
  plans_.messages.resize(3);
  for (int i = 0; i < 3; ++i) {
    plans_.messages[static_cast<std::size_t>(i)].more = i < 2;
    plans_.messages[static_cast<std::size_t>(i)].keep_from = i;
  }
  Heard heard;
  ask_plainly(heard);
  ASSERT_TRUE(heard.finished);
  std::vector<int> order;
  for (const Told& told : told_) order.push_back(told.plan.keep_from);
  EXPECT_THAT(order, ElementsAre(0, 1, 2));
}

TEST_F(RequestPrefixTest, APlanThatFailedIsAnsweredAllTheSame) {
  plans_.messages.clear();
  Heard heard;
  ask_plainly(heard);
  ASSERT_TRUE(heard.finished);
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_TRUE(told_[0].plan.stored.empty() && told_[0].plan.keep.empty() && !told_[0].plan.more);
}

TEST_F(RequestPrefixTest, OthersGoOnWhileOneIsPlanned) {
  Heard slow, quick;
  plans_.holds = true;
  ask_plainly(slow);
  wire::GenerateMessage other = prompt("y");
  other.cache_prompt = false;
  ask_prompt(std::move(other), quick);
  EXPECT_TRUE(quick.finished);
  EXPECT_FALSE(slow.finished);
  plans_.release();
  workers_.settle();
  EXPECT_TRUE(slow.finished);
}

// A client that leaves while its plan is being made.
class LeftBeforeThePlan : public RequestPrefixTest {
 protected:
  void ask_and_leave() {
    plans_.holds = true;
    std::unique_ptr<Reply> reply = begin(prompt("x"), std::nullopt);
    workers_.settle();
    ASSERT_EQ(plans_.asks.size(), 1U);
    reply->cancel();
    loop_.spawn(testing::listen(std::move(reply), heard_));
    workers_.settle();
    ASSERT_TRUE(heard_.refused);
    EXPECT_EQ(heard_.refused->error.code(), ErrorCode::kCancelled);
    EXPECT_TRUE(told_.empty());
    plans_.release();
    workers_.settle();
  }
  Heard heard_;
};

TEST_F(LeftBeforeThePlan, ItsWorkerGetsItAllTheSame) {
  ask_and_leave();
  EXPECT_EQ(told_.size(), 1U);
  EXPECT_THAT(plans_.heard, HasSubstr("plan 1;close 1;")) << "it never started";
  EXPECT_EQ(model_->requests(), 0);
}

TEST_F(LeftBeforeThePlan, WhileItsModelLoadsNothingIsKeptForIt) {
  hold_loads_ = true;
  ask_and_leave();
  EXPECT_EQ(told_.size(), 1U);
  EXPECT_THAT(plans_.heard, HasSubstr("plan 1;close 1;"));
  EXPECT_EQ(model_->requests(), 0);
}

TEST_F(RequestPrefixTest, AFailedRequestGivesItsSlotsBack) {
  fails_ = true;
  Heard heard;
  ask_plainly(heard);
  ASSERT_TRUE(heard.refused);
  EXPECT_THAT(plans_.heard, HasSubstr("plan 1;close 1;"));
}

TEST_F(RequestPrefixTest, AWorkerThatDiesDuringThePlanLeavesNoneToItsSuccessor) {
  plans_.holds = true;
  dies_ = true;
  Heard heard;
  ask_plainly(heard);
  EXPECT_THAT(plans_.heard, HasSubstr("plan 1;lost a;"));
  plans_.release();
  workers_.settle();
  ASSERT_TRUE(heard.finished);
  EXPECT_THAT(plans_.heard, HasSubstr("lost a;close 1;arena a;plan 1;blocks 1 1;started 1;"));
  EXPECT_EQ(told_.size(), 1U) << "of the second worker, for its own question";
  EXPECT_EQ(arenas_, 2);
}

TEST_F(RequestPrefixTest, ASecondAttemptGetsAPlanOfItsOwn) {
  dies_with_plan_ = true;
  Heard heard;
  ask_plainly(heard);
  ASSERT_TRUE(heard.finished);
  EXPECT_EQ(plans_.heard, "arena a;plan 1;lost a;close 1;arena a;plan 1;blocks 1 1;started 1;");
  EXPECT_EQ(told_.size(), 2U);
}

TEST_F(RequestPrefixTest, BlocksCountLongAfterTheirRequest) {
  late_blocks_ = true;
  Heard heard;
  ask_plainly(heard);
  ASSERT_TRUE(heard.finished);
  EXPECT_EQ(plans_.heard, "arena a;plan 1;started 1;");
  EXPECT_THAT(plans_.heard, Not(HasSubstr("close"))) << "kDone came";
  tell_blocks(*channel_, 1);
  workers_.settle();
  EXPECT_EQ(plans_.heard, "arena a;plan 1;started 1;blocks 1 1;");
}

TEST_F(RequestPrefixTest, WhatAWorkerCannotSayOfItsBlocksCostsIt) {
  broken_blocks_ = true;
  Heard heard;
  ask_plainly(heard);
  workers_.pass(1s);
  EXPECT_THAT(plans_.heard, HasSubstr("lost a;"));
  EXPECT_FALSE(model_->host().has_worker());
}

TEST_F(RequestPrefixTest, WhatChangesInEveryPromptIsTakenOut) {
  Heard heard;
  ask_prompt(prompt("It is Monday."), heard);
  ASSERT_TRUE(heard.finished);
  EXPECT_EQ(asked_.at(0).prompt, "It is .");
  EXPECT_EQ(heard.finished->report.prefix->normalised, 1);
}

// ---- what the reply says ----

TEST_F(RequestPrefixTest, RestoredTokensMakeAWarmReply) {
  Heard first, again;
  ask_plainly(first);
  plans_.finding.seen = 192;
  plans_.finding.disk = 192;
  started_.cached_tokens = 192;
  started_.prefix.disk = 192;
  started_.prefix.disk_bytes = Bytes{6'000'000};
  ask_plainly(again);
  ASSERT_TRUE(again.finished);
  const RequestReport& report = again.finished->report;
  EXPECT_EQ(report.response_class, ResponseClass::kWarm);
  ASSERT_TRUE(report.prefix);
  EXPECT_EQ(report.prefix->disk, 192);
  EXPECT_EQ(report.prefix->live, 0);
  EXPECT_EQ(report.prefix->restored, Bytes{6'000'000});
  EXPECT_FALSE(report.prefix->miss);
  EXPECT_EQ(report.cached_tokens, 192);
}

TEST_F(RequestPrefixTest, MovedTokensAreLabelled) {
  Heard heard;
  approximate_ = true;
  texts_ = {{1, 2, 3}};
  started_.cached_tokens = 128;
  started_.prefix.shifted = 128;
  started_.prefix.arena_bytes = Bytes{1'000};
  ask_plainly(heard);
  ASSERT_TRUE(heard.finished && heard.finished->report.prefix);
  EXPECT_EQ(plans_.asks.at(0).texts, texts_);
  const PrefixUse& use = *heard.finished->report.prefix;
  EXPECT_EQ(use.approximate, 128);
  EXPECT_EQ(use.live + use.memory + use.disk, 0);
  EXPECT_EQ(heard.finished->report.cached_tokens, 128);
}

TEST_F(RequestPrefixTest, OnlyApproximateRequestsAskForTexts) {
  Heard heard;
  texts_ = {{1, 2, 3}};
  ask_plainly(heard);
  ASSERT_TRUE(heard.finished);
  EXPECT_TRUE(plans_.asks.at(0).texts.empty());
  EXPECT_EQ(heard.finished->report.prefix->approximate, 0);
}

TEST_F(RequestPrefixTest, TokensEvaluatedAgainMakeItPrefixCold) {
  Heard first, again;
  ask_plainly(first);
  plans_.finding.seen = 192;
  plans_.finding.miss = PrefixRoom::Miss::kNotRestorable;
  ask_plainly(again);
  ASSERT_TRUE(again.finished);
  const RequestReport& report = again.finished->report;
  EXPECT_EQ(report.response_class, ResponseClass::kPrefixCold);
  ASSERT_TRUE(report.verdict);
  EXPECT_EQ(report.verdict->code, VerdictCode::kPrefixNotRestorable);
  EXPECT_EQ(report.verdict->layer, "prefix");
  EXPECT_EQ(report.prefix->miss->reason, VerdictCode::kPrefixNotRestorable);
}

}  // namespace
}  // namespace hearth::front
