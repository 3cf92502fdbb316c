// SPDX-License-Identifier: Apache-2.0
#include "worker/prompt.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/test_models.h"
#include "worker/test_front.h"

namespace hearth::worker {
namespace {

using test::greedy;
using test::Reply;
using test::TestFront;
using wire::FrameType;
using wire::GenerateMessage;

wire::LoadOptions options(int context) {
  wire::LoadOptions out;
  out.context_limit = context;
  return out;
}

GenerateMessage of_tokens(int count, int max_tokens) {
  GenerateMessage message = greedy("", max_tokens);
  for (int i = 0; i < count; ++i) message.prompt_tokens.push_back(300 + i);
  message.ignore_eos = true;
  return message;
}

std::string said(const std::string& role, const std::string& content) {
  return fmt::format(R"({{"role":"{}","content":"{}"}})", role, content);
}

// A system message, then turns of a user and an assistant, and a last question.
std::string long_talk(int turns) {
  std::string out = "[" + said("system", "Be brief.");
  for (int i = 0; i < turns; ++i) {
    out += "," + said("user", fmt::format("Tell me about the number {}.", i));
    out += "," + said("assistant", fmt::format("{} is a number like any other.", i));
  }
  return out + "," + said("user", "And the last one?") + "]";
}

GenerateMessage chat(std::string messages) {
  GenerateMessage message = greedy("", 1);
  message.messages = std::move(messages);
  return message;
}

GenerateMessage counted(GenerateMessage message) {
  message.count_only = true;
  return message;
}

class PromptTest : public testing::Test {
 protected:
  // No weights: none of these needs any.
  void open(const std::string& path, int context) { front_.open(path, options(context)); }
  std::vector<int> tokens_of(const GenerateMessage& message) {
    const Reply reply = front_.generate(counted(message));
    EXPECT_FALSE(reply.failed) << reply.failed->message;
    return reply.tokenized.tokens;
  }
  TestFront front_;
};

TEST_F(PromptTest, CountsWithoutWeights) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  open(path, 64);
  const Reply reply = front_.generate(counted(chat(long_talk(20))));
  ASSERT_FALSE(reply.failed) << reply.failed->message;
  EXPECT_EQ(reply.frames, (std::vector{FrameType::kTokenized, FrameType::kDone}));
  EXPECT_EQ(reply.done.reason, "counted");
  EXPECT_EQ(reply.done.generated, 0);
  EXPECT_GT(reply.done.prompt_tokens, 400);
  EXPECT_EQ(reply.done.prompt_tokens, static_cast<int>(reply.tokenized.tokens.size()));
}

TEST_F(PromptTest, CountsWhileOthersWaitForALoad) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  open(path, 512);
  front_.send(FrameType::kGenerate, 1, wire::encode(greedy("Once", 2)));
  front_.next(FrameType::kTokenized);
  EXPECT_EQ(front_.generate(counted(greedy("Once upon", 2))).done.prompt_tokens, 2);
  front_.send(FrameType::kLoad, 0);
  EXPECT_EQ(front_.collect(1)[1].done.generated, 2);
}

TEST_F(PromptTest, ATextOfMegabytesIsNotCounted) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  open(path, 512);
  const Reply reply = front_.generate(counted(greedy(std::string(6 << 20, 'x'), 1)));
  ASSERT_TRUE(reply.failed);
  EXPECT_EQ(reply.failed->code, name_of(ErrorCode::kTooLong));
}

TEST_F(PromptTest, ALimitOfItsOwnBoundsPromptAndReply) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  open(path, 96);
  front_.load();
  struct {
    int prompt, limit, generated;
  } const cases[] = {{62, 64, 3}, {64, 64, 1}, {95, 0, 2}, {95, 9999, 2}};
  for (const auto& c : cases) {
    GenerateMessage message = of_tokens(c.prompt, -1);
    message.context_limit = c.limit;
    const Reply reply = front_.generate(message);
    EXPECT_EQ(reply.done.generated, c.generated) << c.limit;
    EXPECT_EQ(reply.done.reason, "length");
  }
  GenerateMessage message = of_tokens(65, -1);
  message.context_limit = 64;
  const Reply refused = front_.generate(message);
  ASSERT_TRUE(refused.failed);
  EXPECT_EQ(refused.failed->code, name_of(ErrorCode::kTooLong));
  EXPECT_EQ(refused.failed->prompt_tokens, 65);
  EXPECT_EQ(refused.failed->context, 64);
}

TEST_F(PromptTest, ReturnsWhatItWrote) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  open(path, 64);
  front_.load();
  GenerateMessage message = greedy("Once upon a time", 6);
  EXPECT_TRUE(front_.generate(message).done.tokens.empty());
  message.return_tokens = true;
  const Reply reply = front_.generate(message);
  ASSERT_EQ(reply.done.tokens.size(), 6U);
  GenerateMessage again = greedy("", 1);
  again.echo = true;
  again.max_tokens = 0;
  again.prompt_tokens = reply.done.tokens;
  EXPECT_EQ(front_.generate(again).text, reply.text);
}

TEST_F(PromptTest, DropsTheOldestTurns) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  open(path, 256);
  GenerateMessage message = chat(long_talk(100));
  EXPECT_TRUE(front_.generate(message).failed);
  const int all = static_cast<int>(tokens_of(message).size());
  message.truncate = true;
  message.max_tokens = 20;
  const Reply reply = front_.generate(counted(message));
  ASSERT_FALSE(reply.failed) << reply.failed->message;
  const int kept = reply.done.prompt_tokens;
  EXPECT_LE(kept, 256 - 20 + 1);
  EXPECT_GT(kept, 256 - 20 - 40);  // a turn has less
  const int dropped = reply.tokenized.dropped_messages;
  EXPECT_EQ(dropped % 2, 0);
  EXPECT_GT(dropped, 150);
  EXPECT_GT(reply.tokenized.dropped_tokens, (all - kept) / 2);  // there is much markup
  EXPECT_LT(reply.tokenized.dropped_tokens, all - kept);
  // The same as if the client had left them out.
  std::string left = "[" + said("system", "Be brief.");
  const std::string whole = long_talk(100);
  left += whole.substr(whole.find(
      fmt::format(R"(,{{"role":"user","content":"Tell me about the number {}.)", dropped / 2)));
  EXPECT_EQ(reply.tokenized.tokens, tokens_of(chat(left)));
}

TEST_F(PromptTest, LeavesAloneWhatFits) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  open(path, 256);
  GenerateMessage message = chat(long_talk(2));
  const std::vector<int> whole = tokens_of(message);
  message.truncate = true;
  message.context_limit = static_cast<int>(whole.size());
  const Reply reply = front_.generate(counted(message));
  EXPECT_EQ(reply.tokenized.tokens, whole);
  EXPECT_EQ(reply.tokenized.dropped_messages, 0);
  EXPECT_EQ(reply.tokenized.dropped_tokens, 0);
}

TEST_F(PromptTest, ALastMessageThatIsTooLongIsRefused) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  open(path, 64);
  std::string text;
  for (int i = 0; i < 200; ++i) text += "word ";
  GenerateMessage message = chat("[" + said("user", "hello") + "," + said("assistant", "yes?") +
                                 "," + said("user", text) + "]");
  message.truncate = true;
  const Reply reply = front_.generate(message);
  ASSERT_TRUE(reply.failed);
  EXPECT_EQ(reply.failed->code, name_of(ErrorCode::kTooLong));
  EXPECT_GT(reply.failed->prompt_tokens, 200);
  EXPECT_EQ(reply.failed->context, 64);
  message.messages = R"({"role":"user"})";
  EXPECT_EQ(front_.generate(message).failed->field, "messages");
  message.messages = R"([{"role":"user","content":5}])";
  EXPECT_EQ(front_.generate(message).failed->field, "messages");
}

TEST_F(PromptTest, ARawPromptLosesItsMiddle) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  open(path, 64);
  GenerateMessage message = of_tokens(100, 5);
  message.truncate = true;
  message.keep = 3;
  const Reply reply = front_.generate(counted(message));
  ASSERT_FALSE(reply.failed) << reply.failed->message;
  std::vector<int> expected{300, 301, 302};
  for (int i = 100 - 57; i < 100; ++i) expected.push_back(300 + i);
  EXPECT_EQ(reply.tokenized.tokens, expected);
  EXPECT_EQ(reply.tokenized.dropped_tokens, 40);
  EXPECT_EQ(reply.tokenized.dropped_messages, 0);
}

TEST_F(PromptTest, ABosIsKeptBeyondKeep) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kGemma);
  open(path, 32);
  GenerateMessage message = greedy("one two three four", 1);
  const int bos = tokens_of(message).front();
  for (int i = 0; i < 40; ++i) message.prompt += " and more";
  message.truncate = true;
  const std::vector<int> tokens = tokens_of(message);
  EXPECT_EQ(tokens.size(), 32U);
  EXPECT_EQ(tokens.front(), bos);
}

TEST_F(PromptTest, ATextOfManyMegabytesIsReadAtItsEnds) {
  for (const char* name : {engine::test::kSmol, engine::test::kGemma}) {
    HEARTH_MODEL_OR_SKIP(path, name);
    TestFront front;
    front.open(path, options(1024));
    std::string text = "The beginning of it. ";
    while (text.size() < std::size_t{40} << 20) text += "and so it went on and on, ";
    text += "until the end.";
    GenerateMessage message = greedy(text, 8);
    message.truncate = true;
    message.keep = 5;
    const Reply reply = front.generate(counted(message));
    ASSERT_FALSE(reply.failed) << reply.failed->message;
    EXPECT_EQ(reply.done.prompt_tokens, 1024 - 8 + 1);
    EXPECT_GT(reply.tokenized.dropped_tokens, 8'000'000);
    EXPECT_LT(reply.tokenized.dropped_tokens, 16'000'000);
    const Reply head = front.generate(counted(greedy("The beginning of it. and so", 1)));
    const auto& tokens = reply.tokenized.tokens;
    EXPECT_TRUE(std::equal(tokens.begin(), tokens.begin() + 5, head.tokenized.tokens.begin()));
    const auto tail = front.generate(counted(greedy("and on, until the end.", 1))).tokenized.tokens;
    EXPECT_TRUE(std::equal(tail.rbegin(), tail.rbegin() + 4, tokens.rbegin()));
  }
}

TEST_F(PromptTest, TwoThousandMessagesTakeNoMinute) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  open(path, 2048);
  GenerateMessage message = chat(long_talk(1000));
  message.truncate = true;
  const TimePoint start = Clock::real().now();
  const Reply reply = front_.generate(counted(message));
  ASSERT_FALSE(reply.failed) << reply.failed->message;
  EXPECT_GT(reply.tokenized.dropped_messages, 1500);
  EXPECT_LT(Clock::real().now() - start, std::chrono::seconds{20});
}

TEST_F(PromptTest, MessagesGoOnFromEarlierTokens) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kGemma);
  open(path, 128);
  GenerateMessage message = chat("[" + said("user", "Hello") + "]");
  const std::vector<int> alone = tokens_of(message);
  const std::vector<int> earlier = tokens_of(greedy("So it began", 1));
  message.prompt_tokens = earlier;
  std::vector<int> expected = earlier;
  EXPECT_EQ(alone.front(), earlier.front());  // the BOS, which stands once
  expected.insert(expected.end(), alone.begin() + 1, alone.end());
  EXPECT_EQ(tokens_of(message), expected);

  for (int i = 0; i < 200; ++i) message.prompt_tokens.push_back(1000 + i);
  EXPECT_EQ(front_.generate(message).failed->code, name_of(ErrorCode::kTooLong));
  message.truncate = true;
  const Reply cut = front_.generate(counted(message));
  EXPECT_EQ(cut.done.prompt_tokens, 128);
  EXPECT_EQ(cut.tokenized.tokens.front(), earlier.front());
  EXPECT_EQ(cut.tokenized.tokens.back(), alone.back());
  EXPECT_EQ(cut.tokenized.dropped_tokens, static_cast<int>(expected.size()) + 200 - 128);
  EXPECT_EQ(cut.tokenized.dropped_messages, 0);

  message.messages = long_talk(50);
  const Reply both = front_.generate(counted(message));
  EXPECT_GT(both.tokenized.dropped_messages, 0);
  EXPECT_EQ(both.tokenized.tokens.front(), earlier.front());
  EXPECT_GT(both.tokenized.dropped_tokens, 200);

  message.prompt_tokens = {-1 + 0x7FFFFFFF};
  EXPECT_EQ(front_.generate(message).failed->field, "prompt");
}

TEST_F(PromptTest, RefusesReasoningThatCannotBe) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  const wire::ReadyMessage ready = front_.open(path, options(128));
  EXPECT_FALSE(ready.thinks);
  EXPECT_FALSE(ready.calls_tools);
  GenerateMessage message = chat("[" + said("user", "Hello") + "]");
  const std::vector<int> plain = tokens_of(message);
  message.thinking = "off";
  EXPECT_EQ(tokens_of(message), plain);
  for (const char* value : {"on", "perhaps"}) {
    message.thinking = value;
    const Reply refused = front_.generate(counted(message));
    ASSERT_TRUE(refused.failed);
    EXPECT_EQ(refused.failed->code, name_of(ErrorCode::kInvalid));
    EXPECT_EQ(refused.failed->field, "think");
  }
  GenerateMessage raw = greedy("Hello", 1);
  raw.thinking = "on";
  EXPECT_EQ(front_.generate(counted(raw)).failed->field, "think");
}

TEST_F(PromptTest, TextsToEmbedLoseTheirEnd) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  open(path, 64);
  front_.load();
  std::string text;
  for (int i = 0; i < 300; ++i) text += "word ";
  front_.send(FrameType::kEmbed, 1, wire::encode(wire::EmbedMessage{{text, "hello"}, true}));
  const Reply reply = front_.collect(1)[1];
  ASSERT_FALSE(reply.failed) << reply.failed->message;
  EXPECT_EQ(reply.embedded.vectors.size(), 2U);
  EXPECT_EQ(reply.embedded.prompt_tokens, 64 + 1);
  const int all = static_cast<int>(tokens_of(greedy(text, 1)).size());
  EXPECT_EQ(reply.tokenized.dropped_tokens, all - 64);
}

}  // namespace
}  // namespace hearth::worker
