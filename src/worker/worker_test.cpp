// SPDX-License-Identifier: Apache-2.0
#include "worker/worker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/reference.h"
#include "engine/test_models.h"
#include "worker/test_front.h"

namespace hearth::worker {
namespace {

using test::greedy;
using test::Reply;
using test::TestFront;
using wire::FrameType;

constexpr const char* kKing = "Once upon a time there was a king who lived in";

wire::LoadOptions options(int context) {
  wire::LoadOptions out;
  out.context_limit = context;
  return out;
}

wire::GenerateMessage of_tokens(int count, int max_tokens) {
  wire::GenerateMessage message = greedy("", max_tokens);
  for (int i = 0; i < count; ++i) message.prompt_tokens.push_back(300 + i * 7 % 5000);
  message.ignore_eos = true;
  return message;
}

class WorkerTest : public testing::Test {
 protected:
  void start(const std::string& path, wire::LoadOptions with) {
    front_.open(path, with);
    front_.load();
  }
  TestFront front_;
};

class WorkerModels : public testing::WithParamInterface<const char*>, public WorkerTest {};

TEST_P(WorkerModels, WritesWhatThePlainLoopWritesAlsoFromReusedCells) {
  HEARTH_MODEL_OR_SKIP(path, GetParam());
  start(path, options(1024));
  const Reply first = front_.generate(greedy(kKing, 12));
  EXPECT_EQ(first.text, *engine::greedy_reference({path}, kKing, 12));
  EXPECT_EQ(first.done.reason, "length");
  EXPECT_EQ(first.started.cached_tokens, 0);
  const int tokens = first.started.prompt_tokens;

  const Reply again = front_.generate(greedy(kKing, 12));
  EXPECT_EQ(again.started.cached_tokens, tokens - 1);
  EXPECT_EQ(again.text, first.text);

  const Reply longer = front_.generate(greedy(kKing + first.text + " and", 1));
  EXPECT_EQ(longer.started.cached_tokens, tokens + 11);
  EXPECT_EQ(longer.done.live_tokens, longer.started.prompt_tokens);
}

INSTANTIATE_TEST_SUITE_P(Both, WorkerModels,
                         testing::Values(engine::test::kSmol, engine::test::kGemma),
                         [](const auto& test) { return std::string{test.param}.substr(0, 5); });

TEST_F(WorkerTest, TokenizesWhileHollowAndAnswersOnceLoaded) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  const wire::ReadyMessage ready = front_.open(path, options(1024));
  EXPECT_EQ(ready.architecture, "llama");
  EXPECT_EQ(ready.vocabulary, 49152);
  EXPECT_EQ(ready.trained_context, 8192);
  EXPECT_EQ(ready.context_limit, 1024);
  EXPECT_EQ(ready.chat_template, "model");
  EXPECT_TRUE(ready.generates);
  front_.send(FrameType::kGenerate, 1, wire::encode(greedy(kKing, 2)));
  EXPECT_EQ(front_.next(FrameType::kTokenized).request, 1u);
  front_.send(FrameType::kLoad, 0);
  const Reply reply = front_.collect(1)[1];
  EXPECT_EQ(reply.done.generated, 2);
}

TEST_F(WorkerTest, UnloadsAndLoadsAgain) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  front_.open(path, options(1024));
  const wire::LoadedMessage loaded = front_.load();
  EXPECT_EQ(loaded.context, 1024);
  EXPECT_GT(loaded.memory.mapped.count() + loaded.memory.weights.count(), 90u << 20);
  EXPECT_GT(loaded.memory.context.count(), 0u);
  const std::string text = front_.generate(greedy(kKing, 4)).text;
  front_.send(FrameType::kUnload, 0);
  EXPECT_EQ(front_.next(FrameType::kUnloaded).type, FrameType::kUnloaded);
  front_.load();
  EXPECT_EQ(front_.generate(greedy(kKing, 4)).text, text);
  front_.send(FrameType::kLoad, 0);
  EXPECT_EQ(front_.next().type, FrameType::kFailed);
}

TEST_F(WorkerTest, FillsTheContextExactlyAndRefusesMore) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  start(path, options(128));
  struct {
    int prompt, generated;
  } const cases[] = {{126, 3}, {127, 2}, {128, 1}};
  for (const auto& c : cases) {
    const Reply reply = front_.generate(of_tokens(c.prompt, -1));
    EXPECT_EQ(reply.done.generated, c.generated) << c.prompt;
    EXPECT_EQ(reply.done.reason, "length");
  }
  const Reply refused = front_.generate(of_tokens(129, -1));
  ASSERT_TRUE(refused.failed);
  EXPECT_EQ(refused.failed->code, name_of(ErrorCode::kTooLong));
  EXPECT_EQ(refused.failed->prompt_tokens, 129);
  EXPECT_EQ(refused.failed->context, 128);
}

TEST_F(WorkerTest, StopsEchoesAndEvaluatesOnly) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  start(path, options(512));
  const std::string text = front_.generate(greedy(kKing, 8)).text;
  auto message = greedy(kKing, 8);
  message.stop = {"", text.substr(3, 4)};
  const Reply stopped = front_.generate(message);
  EXPECT_EQ(stopped.text, text.substr(0, 3));
  EXPECT_EQ(stopped.done.reason, "stop");
  EXPECT_EQ(stopped.done.stopped_by, message.stop[1]);

  const Reply none = front_.generate(greedy(kKing, 0));
  EXPECT_EQ(none.text, "");
  EXPECT_EQ(none.done.reason, "length");
  EXPECT_EQ(none.frames,
            (std::vector{FrameType::kTokenized, FrameType::kStarted, FrameType::kDone}));

  message = greedy(kKing, 1);
  message.echo = true;
  EXPECT_EQ(front_.generate(message).text.rfind(kKing, 0), 0u);
}

TEST_F(WorkerTest, LeavesNoGapInItsStages) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  start(path, options(512));
  const Reply reply = front_.generate(greedy(kKing, 3));
  std::vector<Stage> stages = reply.tokenized.stages;
  stages.insert(stages.end(), reply.started.stages.begin(), reply.started.stages.end());
  stages.insert(stages.end(), reply.done.stages.begin(), reply.done.stages.end());
  ASSERT_GE(stages.size(), 4u);
  EXPECT_EQ(stages.front().kind, StageKind::kTokenize);
  EXPECT_EQ(stages.back().kind, StageKind::kDecode);
  for (std::size_t i = 1; i < stages.size(); ++i) {
    EXPECT_GE(stages[i].start, stages[i - 1].end);
    EXPECT_LT(stages[i].start - stages[i - 1].end, std::chrono::milliseconds{20});
  }
}

TEST_F(WorkerTest, CancelsWhileReadingAndWhileWriting) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  start(path, options(2048));
  front_.send(FrameType::kGenerate, 1, wire::encode(of_tokens(2000, 5)));
  front_.next(FrameType::kTokenized);
  front_.send(FrameType::kCancel, 1);
  const Reply reading = front_.collect(1)[1];
  EXPECT_EQ(reading.done.reason, "cancelled");
  EXPECT_EQ(reading.done.generated, 0);

  front_.send(FrameType::kGenerate, 2, wire::encode(of_tokens(5, -1)));
  front_.next(FrameType::kDelta);
  front_.send(FrameType::kCancel, 2);
  const Reply writing = front_.collect(1)[2];
  EXPECT_EQ(writing.done.reason, "cancelled");
  EXPECT_EQ(front_.generate(greedy(kKing, 1)).done.generated, 1);
}

TEST_F(WorkerTest, CancelsWhatWaitsForWeights) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  front_.open(path, options(512));
  front_.send(FrameType::kGenerate, 1, wire::encode(greedy(kKing, 5)));
  front_.next(FrameType::kTokenized);
  front_.send(FrameType::kCancel, 1);
  EXPECT_EQ(front_.collect(1)[1].done.reason, "cancelled");
}

TEST_F(WorkerTest, WritesToSeveralAtOnceAndQueuesTheRest) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  wire::LoadOptions two = options(512);
  two.parallel = 2;
  start(path, two);
  const std::string alone = front_.generate(greedy(kKing, 4)).text;
  for (std::uint64_t i = 1; i <= 5; ++i) {
    auto message = greedy(kKing, 4);
    message.cache_prompt = i % 2 == 0;
    front_.send(FrameType::kGenerate, i, wire::encode(message));
  }
  for (const auto& [id, reply] : front_.collect(5)) {
    EXPECT_EQ(reply.done.generated, 4) << id;
    // The shape of a batch changes the order of sums, and with it which of two almost equal tokens
    // is taken: the third one here. A mix-up of sequences would show in the first.
    EXPECT_TRUE(reply.text.starts_with(alone.substr(0, alone.find(' ', 3)))) << id << reply.text;
  }
}

// That a copied state writes the same text is engine_test's; here the shape of the batches differs
// too.
TEST_F(WorkerTest, GrowsWhenTwoNeedMoreThanOneContext) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  wire::LoadOptions two = options(256);
  two.parallel = 2;
  start(path, two);
  EXPECT_EQ(front_.generate(of_tokens(200, 1)).done.context, 256);
  auto other = of_tokens(200, 20);
  other.prompt_tokens.front() = 299;
  front_.send(FrameType::kGenerate, 1, wire::encode(other));
  front_.next(FrameType::kDelta);
  front_.send(FrameType::kGenerate, 2, wire::encode(of_tokens(200, 5)));
  auto replies = front_.collect(2);
  EXPECT_EQ(replies[1].done.generated, 20);
  EXPECT_EQ(replies[2].done.generated, 5);
  EXPECT_EQ(replies[2].done.context, 512);
  const auto grew = [](const Stage& stage) { return stage.kind == StageKind::kContext; };
  const auto& stages = replies[2].started.stages;
  EXPECT_EQ(std::count_if(stages.begin(), stages.end(), grew), 1);
}

TEST_F(WorkerTest, EmbedsAndRefusesWhatIsTooLong) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  start(path, options(64));
  front_.send(FrameType::kEmbed, 1, wire::encode(wire::EmbedMessage{{"hello", "good day"}}));
  const Reply reply = front_.collect(1)[1];
  ASSERT_EQ(reply.embedded.vectors.size(), 2u);
  for (const auto& vector : reply.embedded.vectors) {
    double square = 0.0;
    for (const float x : vector) square += static_cast<double>(x) * x;
    EXPECT_NEAR(square, 1.0, 1e-4);
  }
  front_.send(FrameType::kEmbed, 2, wire::encode(wire::EmbedMessage{{std::string(400, 'x')}}));
  const Reply refused = front_.collect(1)[2];
  ASSERT_TRUE(refused.failed);
  EXPECT_EQ(refused.failed->code, name_of(ErrorCode::kTooLong));
  EXPECT_EQ(refused.failed->context, 64);
}

TEST_F(WorkerTest, NamesTheFieldAtFault) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  front_.open(path, options(64));
  auto message = greedy("", 1);
  message.prompt_tokens = {1, 49152};
  EXPECT_EQ(front_.generate(message).failed->field, "prompt");
  message = greedy("hello", 1);
  message.response_schema = R"({"type":"nothing"})";
  EXPECT_EQ(front_.generate(message).failed->field, "response_format");
  EXPECT_EQ(front_.generate(greedy("", 1)).failed->code, name_of(ErrorCode::kInvalid));
}

TEST_F(WorkerTest, FollowsASchema) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  start(path, options(512));
  auto message = greedy("", 40);
  message.messages = R"([{"role":"user","content":"Is the sky blue?"}])";
  message.response_schema =
      R"({"type":"object","properties":{"yes":{"type":"boolean"}},"required":["yes"]})";
  const Reply reply = front_.generate(message);
  EXPECT_EQ(reply.text.front(), '{') << reply.text;
  EXPECT_EQ(reply.done.reason, "stop");
}

TEST_F(WorkerTest, RefusesAFileThatIsNoModel) {
  wire::Frame open;
  front_.send(FrameType::kLoad, 7);
  const wire::Frame early = front_.next();
  EXPECT_EQ(early.type, FrameType::kFailed);
  EXPECT_EQ(early.request, 7u);
  front_.send(FrameType::kOpen, 8, wire::encode(wire::OpenMessage{"none", {}, {}, 0}));
  EXPECT_EQ(front_.next().type, FrameType::kFailed);
}

TEST_F(WorkerTest, EndsInTheMiddleOfAnythingWhenTheFrontHangsUp) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  start(path, options(2048));
  front_.send(FrameType::kGenerate, 1, wire::encode(of_tokens(2000, 5)));
  front_.next(FrameType::kTokenized);
  front_.hang_up();  // the test would not end otherwise
}

TEST_F(WorkerTest, BeatsWhileNothingHappens) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  front_.open(path, options(512));
  const auto beat = wire::decode_heartbeat(front_.next(FrameType::kHeartbeat).payload);
  ASSERT_TRUE(beat);
  EXPECT_EQ(beat->active, 0);
  EXPECT_GT(beat->resident.count(), beat->anonymous.count());
}

}  // namespace
}  // namespace hearth::worker
