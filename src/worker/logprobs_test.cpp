// SPDX-License-Identifier: Apache-2.0
// Log probabilities on their way out of a worker, over real models.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/json.h"
#include "engine/test_models.h"
#include "worker/test_front.h"

namespace hearth::worker {
namespace {

using test::greedy;
using test::Reply;
using test::TestFront;

constexpr const char* kKing = "Once upon a time there was a king who lived in";

std::string bytes_of(const std::vector<wire::TokenLogprob>& tokens) {
  std::string bytes;
  for (const wire::TokenLogprob& token : tokens) bytes += token.chosen.bytes;
  return bytes;
}

void expect_sound(const wire::TokenLogprob& token, std::size_t alternatives) {
  ASSERT_EQ(token.top.size(), alternatives);
  EXPECT_LE(token.chosen.logprob, 0);
  double sum = 0;
  for (std::size_t i = 0; i < token.top.size(); ++i) {
    sum += std::exp(token.top[i].logprob);
    EXPECT_GE(token.top[i > 0 ? i - 1 : 0].logprob, token.top[i].logprob);
  }
  EXPECT_LE(sum, 1.000001);
}

class Logprobs : public testing::TestWithParam<const char*> {
 protected:
  void start(const std::string& path) {
    wire::LoadOptions options;
    options.context_limit = 1024;
    front_.open(path, options);
    front_.load();
  }
  TestFront front_;
};

TEST_P(Logprobs, AreToldOfEachTokenOfTheText) {
  HEARTH_MODEL_OR_SKIP(path, GetParam());
  start(path);
  wire::GenerateMessage message = greedy(kKing, 12);
  const std::string plain = front_.generate(message).text;
  message.logprobs = 5;
  const Reply reply = front_.generate(message);
  EXPECT_EQ(reply.text, plain);
  ASSERT_EQ(reply.logprobs.size(), 12U);
  EXPECT_EQ(bytes_of(reply.logprobs), reply.text);
  for (const wire::TokenLogprob& token : reply.logprobs) {
    expect_sound(token, 5);
    EXPECT_EQ(token.top.front().token, token.chosen.token) << "the likeliest was taken";
    EXPECT_EQ(token.top.front().logprob, token.chosen.logprob);
  }
}

TEST_P(Logprobs, AreOfTheModelAndNotOfTheSampling) {
  HEARTH_MODEL_OR_SKIP(path, GetParam());
  start(path);
  wire::GenerateMessage message = greedy(kKing, 1);
  message.logprobs = 2;
  const Reply likeliest = front_.generate(message);
  const wire::TokenChance second = likeliest.logprobs.at(0).top.at(1);
  message.sampling.logit_bias[second.token] = 100;
  message.sampling.temperature = 2;
  const Reply biased = front_.generate(message);
  EXPECT_EQ(biased.logprobs.at(0).chosen.token, second.token);
  EXPECT_NEAR(biased.logprobs.at(0).chosen.logprob, second.logprob, 1e-3);
}

TEST_P(Logprobs, OfAStopStringAreNotTold) {
  HEARTH_MODEL_OR_SKIP(path, GetParam());
  start(path);
  wire::GenerateMessage message = greedy(kKing, 12);
  message.logprobs = 0;
  const Reply whole = front_.generate(message);
  const std::string stop = whole.logprobs.at(4).chosen.bytes + whole.logprobs.at(5).chosen.bytes;
  message.stop = {stop};
  const Reply cut = front_.generate(message);
  EXPECT_EQ(cut.done.stopped_by, stop);
  EXPECT_EQ(bytes_of(cut.logprobs), cut.text);
  for (const wire::TokenLogprob& token : cut.logprobs) EXPECT_TRUE(token.top.empty());
}

// Of a character that tokens are pieces of, each piece has its own.
TEST_P(Logprobs, OfHalfACharacterComeWithTheWhole) {
  HEARTH_MODEL_OR_SKIP(path, GetParam());
  start(path);
  wire::GenerateMessage message = greedy("A rare letter: ", 12);
  message.grammar = "root ::= \"\xF0\x92\x80\xAD\"";
  message.logprobs = 1;
  const Reply reply = front_.generate(message);
  EXPECT_EQ(reply.text, "\xF0\x92\x80\xAD");
  EXPECT_EQ(bytes_of(reply.logprobs), reply.text);
  ASSERT_GT(reply.logprobs.size(), 1U);
  EXPECT_FALSE(is_utf8(reply.logprobs.front().chosen.bytes));
}

INSTANTIATE_TEST_SUITE_P(Both, Logprobs, testing::Values(engine::test::kSmol, engine::test::kGemma),
                         [](const auto& test) { return std::string{test.param}.substr(0, 5); });

}  // namespace
}  // namespace hearth::worker
