// SPDX-License-Identifier: Apache-2.0
// The room's types together, over real models.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "engine/backends.h"
#include "engine/chat_format.h"
#include "engine/context.h"
#include "engine/embedder.h"
#include "engine/engine_log.h"
#include "engine/model.h"
#include "engine/reference.h"
#include "engine/sampler.h"
#include "engine/test_models.h"
#include "engine/vocabulary.h"

namespace hearth::engine {
namespace {

constexpr const char* kPrompt = "The three primary colours are";

class Engine : public testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() {
    route_engine_log();
    ASSERT_TRUE(load_backends());
  }
  void open(const std::string& path) {
    path_ = path;
    auto vocabulary = Vocabulary::open({path});
    ASSERT_TRUE(vocabulary) << vocabulary.error().message();
    vocabulary_ = std::move(*vocabulary);
  }
  void load() {
    auto model = Model::load({path_}, *vocabulary_, Repack::kYes, {});
    ASSERT_TRUE(model) << model.error().message();
    model_ = std::make_unique<Model>(std::move(*model));
    threads_ = std::make_unique<CpuThreads>(0);
  }
  std::unique_ptr<Context> context(int cells) {
    auto made = Context::create(*model_, {cells, 3}, *threads_, abort_);
    EXPECT_TRUE(made);
    return std::move(*made);
  }
  void evaluate(Context& c, const std::vector<Token>& tokens, int position, int sequence) {
    c.clear();
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const bool last = i + 1 == tokens.size();
      c.add(tokens[i], position + static_cast<int>(i), sequence, last ? Logits::kYes : Logits::kNo);
    }
    ASSERT_EQ(c.decode(), Decoded::kDone);
  }
  // Greedy text, from logits of the batch's last entry.
  std::string write(Context& c, int position, int sequence, int count) {
    Sampler sampler = *Sampler::create(*vocabulary_, greedy(), {});
    std::string text;
    for (int i = 0; i < count; ++i) {
      const Token token = *sampler.sample(c.handle(), c.size() - 1);
      if (vocabulary_->is_eog(token)) break;
      vocabulary_->append_piece(token, ShowSpecial::kNo, text);
      evaluate(c, {token}, position++, sequence);
    }
    return text;
  }

  static SamplingOptions greedy() {
    SamplingOptions options;
    options.temperature = 0.0;
    return options;
  }

  std::string path_;
  AbortFlags abort_;
  std::unique_ptr<Vocabulary> vocabulary_;
  std::unique_ptr<CpuThreads> threads_;
  std::unique_ptr<Model> model_;
};

TEST_P(Engine, GreedyTextEqualsThePlainLoop) {
  HEARTH_MODEL_OR_SKIP(path, GetParam());
  open(path);
  load();
  const auto c = context(4096);
  const auto prompt = vocabulary_->tokenize(kPrompt, AddSpecial::kYes);
  evaluate(*c, prompt, 0, 1);
  const std::string text = write(*c, static_cast<int>(prompt.size()), 1, 32);
  EXPECT_EQ(text, *greedy_reference({path}, kPrompt, 32));
}

TEST_P(Engine, StateMovesToALargerContext) {
  HEARTH_MODEL_OR_SKIP(path, GetParam());
  open(path);
  load();
  const auto small = context(512);
  const auto prompt = vocabulary_->tokenize(kPrompt, AddSpecial::kYes);
  const int length = static_cast<int>(prompt.size());
  evaluate(*small, {prompt.begin(), prompt.end() - 1}, 0, 0);
  const auto large = context(2048);
  ASSERT_TRUE(large->restore(0, small->save(0)));
  EXPECT_EQ(large->evaluated(0), length - 1);
  evaluate(*large, {prompt.back()}, length - 1, 0);
  evaluate(*small, {prompt.back()}, length - 1, 0);
  EXPECT_EQ(write(*large, length, 0, 16), write(*small, length, 0, 16));
}

TEST_P(Engine, KeepForgetsTheRest) {
  HEARTH_MODEL_OR_SKIP(path, GetParam());
  open(path);
  load();
  const auto c = context(512);
  const auto prompt = vocabulary_->tokenize(kPrompt, AddSpecial::kYes);
  evaluate(*c, prompt, 0, 0);
  EXPECT_EQ(c->keep(0, 3), 3);
  EXPECT_EQ(c->evaluated(0), 3);
  EXPECT_EQ(c->keep(0, 100), 3);
  EXPECT_EQ(c->keep(0, 0), 0);
  EXPECT_EQ(c->evaluated(0), 0);
}

TEST_P(Engine, EmbeddingsHaveLengthOneAndMeanSomething) {
  HEARTH_MODEL_OR_SKIP(path, GetParam());
  open(path);
  load();
  const auto embedder = Embedder::create(*model_, *vocabulary_, 64, *threads_, abort_);
  ASSERT_TRUE(embedder) << embedder.error().message();
  const auto vector = [&](const char* text) {
    return *(*embedder)->embed(vocabulary_->tokenize(text, AddSpecial::kYes));
  };
  const auto dot = [](const std::vector<float>& a, const std::vector<float>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
    return sum;
  };
  const auto cat = vector("The cat sleeps on the sofa.");
  const auto kitten = vector("A kitten is sleeping on the couch.");
  const auto tax = vector("Quarterly revenue taxes rose 14 percent");
  EXPECT_NEAR(dot(cat, cat), 1.0, 1e-5);
  EXPECT_GT(dot(cat, kitten), dot(cat, tax));
  const auto error = (*embedder)->embed(std::vector<Token>(65, 5)).error();
  EXPECT_EQ(error.code(), ErrorCode::kTooLong);
  EXPECT_EQ(error.counts().prompt_tokens, 65);
  EXPECT_EQ(error.counts().context_tokens, 64);
}

INSTANTIATE_TEST_SUITE_P(Models, Engine, testing::Values(test::kSmol, test::kGemma),
                         [](const auto& test) {
                           return std::string{test.param}.substr(0, 5) == "SmolL" ? "Smol"
                                                                                  : "Gemma";
                         });

TEST(Vocabulary, SaysWhatIsWrongWithAFile) {
  route_engine_log();
  const auto opened = Vocabulary::open({"/dev/null"});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(opened.error().message(), "read the vocabulary: failed to read magic");
}

}  // namespace
}  // namespace hearth::engine
