// SPDX-License-Identifier: Apache-2.0
// LoadOptions.exact: a request's bits do not depend on what else the worker did or does.
#include <gtest/gtest.h>

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

constexpr const char* kKing = "Once upon a time there was a king who lived in";

class Exact : public testing::TestWithParam<const char*> {
 protected:
  void start(const std::string& path) {
    wire::LoadOptions options;
    options.context_limit = 2048;
    options.exact = true;
    options.threads = 1;  // their number is another test's matter
    front_.open(path, options);
    front_.load();
  }
  static wire::GenerateMessage ask(const std::string& prompt, int tokens) {
    wire::GenerateMessage message = greedy(prompt, tokens);
    message.return_tokens = true;
    message.ignore_eos = true;
    return message;
  }
  TestFront front_;
};

// What comes back are whole micro-batches: they are the same computations as before. With a window
// the cells lie otherwise, so nothing does.
TEST_P(Exact, RepeatsWriteTheSame) {
  HEARTH_MODEL_OR_SKIP(path, GetParam());
  start(path);
  std::string lengthy;
  for (int i = 0; i < 60; ++i) lengthy += kKing;
  const Reply first = front_.generate(ask(lengthy, 8));
  EXPECT_GT(first.started.prompt_tokens, 512) << "more than one piece of the engine's";
  front_.generate(ask(kKing, 5));
  front_.generate(ask(lengthy + " a castle", 3));
  const Reply again = front_.generate(ask(lengthy, 8));
  const bool windowed = std::string{GetParam()} == engine::test::kGemma;
  EXPECT_EQ(again.started.cached_tokens,
            windowed ? 0 : (first.started.prompt_tokens - 1) / 512 * 512);
  EXPECT_EQ(again.done.tokens, first.done.tokens);
}

TEST_P(Exact, CompanyWaitsItsTurn) {
  HEARTH_MODEL_OR_SKIP(path, GetParam());
  start(path);
  const std::vector<std::string> prompts{kKing, "The capital of France is", "One, two, three,"};
  std::vector<std::vector<int>> alone;
  for (const std::string& prompt : prompts) {
    alone.push_back(front_.generate(ask(prompt, 12)).done.tokens);
  }
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    front_.send(FrameType::kGenerate, i + 1, wire::encode(ask(prompts[i], 12)));
  }
  auto together = front_.collect(prompts.size());
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    EXPECT_EQ(together[i + 1].done.tokens, alone[i]) << prompts[i];
    EXPECT_EQ(together[i + 1].done.live_tokens, 0) << "nothing stays in the cells";
  }
}

INSTANTIATE_TEST_SUITE_P(Both, Exact, testing::Values(engine::test::kSmol, engine::test::kGemma),
                         [](const auto& test) { return std::string{test.param}.substr(0, 5); });

}  // namespace
}  // namespace hearth::worker
