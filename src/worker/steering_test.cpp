// SPDX-License-Identifier: Apache-2.0
// What steers a reply beside sampling, over real models.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "engine/test_models.h"
#include "worker/test_front.h"

namespace hearth::worker {
namespace {

using test::greedy;
using test::Reply;
using test::TestFront;

constexpr const char* kAsk = R"([{"role":"user","content":"Is the sky blue?"}])";

class Steering : public testing::TestWithParam<const char*> {
 protected:
  void start(const std::string& path) {
    wire::LoadOptions options;
    options.context_limit = 1024;
    ready_ = front_.open(path, options);
    front_.load();
  }
  TestFront front_;
  wire::ReadyMessage ready_;
};

TEST_P(Steering, AGrammarIsFollowedInChatsAndRawPrompts) {
  HEARTH_MODEL_OR_SKIP(path, GetParam());
  start(path);
  wire::GenerateMessage message = greedy("Is the sky blue? ", 12);
  message.grammar = "root ::= \"yes\" | \"no\"";
  const std::string raw = front_.generate(message).text;
  EXPECT_TRUE(raw == "yes" || raw == "no") << raw;
  message.prompt.clear();
  message.messages = kAsk;
  const Reply chat = front_.generate(message);
  EXPECT_TRUE(chat.text == "yes" || chat.text == "no") << chat.text;
  EXPECT_EQ(chat.done.reason, "stop");
}

TEST_P(Steering, AGrammarThatTheEngineCannotReadIsRefused) {
  HEARTH_MODEL_OR_SKIP(path, GetParam());
  start(path);
  wire::GenerateMessage message = greedy("Hi", 2);
  message.grammar = "root ::= nowhere";
  const Reply reply = front_.generate(message);
  ASSERT_TRUE(reply.failed);
  EXPECT_EQ(reply.failed->field, "grammar");
}

TEST_P(Steering, NothingEndsBeforeTheLeastLength) {
  HEARTH_MODEL_OR_SKIP(path, GetParam());
  start(path);
  wire::GenerateMessage message = greedy("", 40);
  message.messages = R"([{"role":"user","content":"Say only: hi"}])";
  const int usual = front_.generate(message).done.generated;
  message.sampling.min_tokens = std::min(usual + 3, 40);
  EXPECT_GE(front_.generate(message).done.generated, message.sampling.min_tokens);
}

TEST_P(Steering, ATextsTokensAreAllBiased) {
  HEARTH_MODEL_OR_SKIP(path, GetParam());
  start(path);
  wire::GenerateMessage message = greedy("Is the sky blue?", 3);
  message.sampling.text_bias = {{" fox", 100}};
  EXPECT_NE(front_.generate(message).text.find("fox"), std::string::npos);
}

TEST_P(Steering, AGapWithoutMarksIsRefused) {
  HEARTH_MODEL_OR_SKIP(path, GetParam());
  start(path);
  EXPECT_FALSE(ready_.fills);
  wire::GenerateMessage message = greedy("def add(a, b):", 2);
  message.suffix = "\n";
  const Reply reply = front_.generate(message);
  ASSERT_TRUE(reply.failed);
  EXPECT_EQ(reply.failed->field, "suffix");
}

INSTANTIATE_TEST_SUITE_P(Both, Steering, testing::Values(engine::test::kSmol, engine::test::kGemma),
                         [](const auto& test) { return std::string{test.param}.substr(0, 5); });

}  // namespace
}  // namespace hearth::worker
