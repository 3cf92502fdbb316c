// SPDX-License-Identifier: Apache-2.0
//
// How long weights stay, through admission, worker and timers together, in virtual time.
#include <gtest/gtest.h>

#include <array>

#include "front/model.h"
#include "front/request_run.h"
#include "front/testing/sim_workers.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;
using testing::answer;
using testing::SimProcesses;
using testing::well_behaved;
using wire::BlockingChannel;
using wire::Frame;
using wire::FrameType;

struct Heard {
  std::optional<Finished> finished;
  std::optional<Refused> refused;
};

Task<void> listen(std::unique_ptr<Reply> reply, Heard& heard) {
  while (!heard.finished && !heard.refused) {
    Event event = co_await reply->next();
    if (auto* finished = std::get_if<Finished>(&event)) heard.finished = std::move(*finished);
    if (auto* refused = std::get_if<Refused>(&event)) heard.refused = std::move(*refused);
  }
  reply->sent(heard.finished ? 200 : 503);
}

NamedModel tiny() {
  NamedModel named;
  named.name = "tiny:latest";
  named.key = "tiny:latest";
  named.artifact.id = "a";
  Artifact::Shard shard;
  shard.path = "/proc/self/exe";  // any file that can be opened
  named.artifact.shards.push_back(shard);
  return named;
}

class ResidencyTest : public ::testing::Test {
 protected:
  ~ResidencyTest() override {
    loop_.spawn(model_->host().stop());
    workers_.settle();
  }

  void parallel(int places) {
    HostSettings settings;
    settings.worker_program = "scripted";
    settings.options.parallel = places;
    model_ = std::make_unique<Model>(
        Model::World{ModelHost::World{loop_, pool_, Files::real(), workers_},
                     loop_.clock(),
                     layers_,
                     metrics_,
                     pressure_,
                     {}},
        tiny(), settings, [this](ModelHost&) { model_->learn_from_host(); });
    model_->stay().set_default({KeepAlive::after(5min), "configuration"});
  }

  // Prompts with "slow" are answered by let_go(); loads and unloads wait while they are held back.
  bool script(BlockingChannel& channel, const Frame& frame) {
    const bool held_back = (frame.type == FrameType::kLoad && hold_loads_) ||
                           (frame.type == FrameType::kUnload && hold_unloads_) ||
                           frame.payload.find("slow") != std::string::npos;
    if (frame.type == FrameType::kLoad) ++loads_;
    if (frame.type == FrameType::kLoad && bytes_read_ > Bytes{}) {
      wire::LoadedMessage loaded;
      loaded.bytes_read = bytes_read_;
      answer(channel, FrameType::kLoaded, 0, wire::encode(loaded));
      return true;
    }
    if (!held_back) return well_behaved(channel, frame);
    held_.push_back([&channel, request = frame.request, type = frame.type] {
      well_behaved(channel, wire::make_frame(type, request, "{}"));
    });
    return true;
  }
  void let_go() {
    for (const auto& run : std::exchange(held_, {})) run();
    workers_.settle();
  }

  std::unique_ptr<Reply> begin(RequestRun::Work work, std::optional<KeepAlive> wish) {
    RequestRun::Input input;
    input.number = next_++;
    input.id = "r" + std::to_string(input.number);
    input.context.model = "tiny";
    input.context.first_byte = loop_.now();
    input.context.keep_alive = wish;
    input.work = std::move(work);
    auto run =
        std::make_shared<RequestRun>(loop_, std::move(input), 0, [](const RequestReport&) {});
    std::string name = "tiny:latest";
    loop_.spawn(RequestRun::run(run, *model_, std::move(name)));
    return std::make_unique<RunReply>(std::move(run));
  }
  static wire::GenerateMessage prompt(const std::string& text) {
    wire::GenerateMessage message;
    message.prompt = text;
    return message;
  }
  void ask(const std::string& text, std::optional<KeepAlive> wish, Heard& heard) {
    loop_.spawn(listen(begin(prompt(text), wish), heard));
    workers_.settle();
  }
  bool resident() const { return model_->host().level() == WeightsLevel::kResident; }

  SimEventLoop loop_;
  Pool pool_ = Pool::inline_for_tests();
  SimProcesses workers_{loop_, [this](BlockingChannel& channel, const Frame& frame) {
                          return script(channel, frame);
                        }};
  Metrics metrics_{BuildInfo{}};
  Pressure pressure_;
  LayerSet layers_{
      LayerSet::World{loop_,
                      pool_,
                      Files::real(),
                      loop_.clock(),
                      [this](const std::string&) { return model_ ? &model_->host() : nullptr; },
                      [](const std::string&) { return std::optional<LoadSet>{}; },
                      {}}};
  std::unique_ptr<Model> model_;
  std::vector<std::function<void()>> held_;
  bool hold_loads_ = false;
  bool hold_unloads_ = false;
  int loads_ = 0;
  Bytes bytes_read_;
  std::uint64_t next_ = 1;
};

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

Task<void> unload(ModelHost& host, ModelHost::Check check, Result<>& result) {
  result = co_await host.unload(WeightsCause::kAsked, std::move(check));
}

// A pin that came while the last reply was being written, say.
TEST_F(ResidencyTest, AnUnloadAsksAgainOnceAllHaveLeft) {
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

TEST_F(ResidencyTest, AReleaseWaitsForNobodyAndTheWeightsGoLast) {
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

TEST_F(ResidencyTest, AReleaseLetsNobodyWait) {
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

TEST_F(ResidencyTest, AReleaseOfWhatNobodyUsesReturnsWhenItIsGone) {
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

TEST_F(ResidencyTest, WhatNobodyWaitsForAnyMoreIsNotLoadedAgain) {
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

TEST_F(ResidencyTest, ALoadThatNoRequestBeganIsCountedOnce) {
  parallel(4);
  bytes_read_ = Bytes{4096};
  const bool cancelled = false;
  Result<> loaded;
  loop_.spawn(wait_for_weights(model_->host(), cancelled, loaded));
  workers_.settle();
  ASSERT_TRUE(loaded);
  EXPECT_NE(metrics_.text().find("hearth_bytes_read_total 4096"), std::string::npos);
}

TEST_F(ResidencyTest, ALoadThatARequestBeganIsInItsReport) {
  parallel(4);
  bytes_read_ = Bytes{4096};
  Heard heard;
  ask("x", std::nullopt, heard);
  ASSERT_TRUE(heard.finished);
  EXPECT_EQ(heard.finished->report.bytes_read, Bytes{4096});
  EXPECT_EQ(metrics_.text().find("hearth_bytes_read_total 4096"), std::string::npos);
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
