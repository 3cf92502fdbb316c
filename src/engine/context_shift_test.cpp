// SPDX-License-Identifier: Apache-2.0
// Blocks of evaluated state at other positions.
#include <gtest/gtest.h>
#include <llama.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/backends.h"
#include "engine/context.h"
#include "engine/engine_log.h"
#include "engine/model.h"
#include "engine/test_models.h"
#include "engine/vocabulary.h"

namespace hearth::engine {
namespace {

constexpr int kBlock = 64;
constexpr int kLoaded = 2 * kBlock;
constexpr int kText = kLoaded + 12;
using Row = std::vector<float>;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span{text});
}

double divergence(const Row& p, const Row& q) {
  const auto log_sum = [](const Row& row) {
    const double most = *std::max_element(row.begin(), row.end());
    double sum = 0;
    for (const float value : row) sum += std::exp(value - most);
    return most + std::log(sum);
  };
  const double of_p = log_sum(p);
  const double of_q = log_sum(q);
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    sum += std::exp(p[i] - of_p) * ((p[i] - of_p) - (q[i] - of_q));
  }
  return sum;
}

auto best_of(const Row& row) { return std::max_element(row.begin(), row.end()) - row.begin(); }

class EngineShift : public testing::Test {
 protected:
  void SetUp() override { open(test::kSmol); }
  void open(const char* name) {
    const std::string path = test::model_path(name).value_or("");
    if (path.empty()) GTEST_SKIP() << "no model";
    route_engine_log();
    ASSERT_TRUE(load_backends());
    vocabulary_ = std::move(*Vocabulary::open({path}));
    model_ =
        std::make_unique<Model>(std::move(*Model::load({path}, *vocabulary_, Repack::kYes, {})));
    std::string text;
    for (int i = 0; i < 60; ++i) {
      text += "House rule " + std::to_string(i) + ": the " + std::to_string(i * 7 % 31) +
              "th lamp is lit at dusk. ";
    }
    text_ = vocabulary_->tokenize(text, AddSpecial::kNo);
    text_.resize(kText);
  }
  std::unique_ptr<Context> context() {
    return std::move(*Context::create(*model_, {512, 5}, threads_, abort_));
  }
  // The logits after the last of `tokens`, which go to `position` and on.
  Row evaluate(Context& c, std::span<const Token> tokens, int position, int sequence) {
    c.clear();
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      c.add(tokens[i], position + static_cast<int>(i), sequence,
            i + 1 == tokens.size() ? Logits::kYes : Logits::kNo);
    }
    EXPECT_EQ(c.decode(), Decoded::kDone);
    const float* values = llama_get_logits_ith(c.handle(), -1);
    return {values, values + vocabulary_->size()};
  }
  // Two blocks of the text, evaluated at 0 and on, at `shift` and on.
  void load_shifted(Context& c, int sequence, int shift) {
    const auto source = context();
    evaluate(*source, text_, 0, 0);
    for (int first = 0; first < kLoaded; first += kBlock) {
      const auto block = source->save_block(0, first, kBlock);
      ASSERT_TRUE(block);
      const auto loaded =
          c.load_shifted_block(sequence, first, kBlock, shift, bytes_of(block->base));
      ASSERT_TRUE(loaded) << loaded.error().message();
    }
    EXPECT_EQ(c.evaluated(sequence), shift + kLoaded);
  }
  std::span<const Token> rest() const { return std::span{text_}.subspan(kLoaded); }

  CpuThreads threads_{1};
  AbortFlags abort_;
  std::unique_ptr<Vocabulary> vocabulary_;
  std::unique_ptr<Model> model_;
  std::vector<Token> text_;
};

// Of texts that stand alone there and there: what turning costs, not what a missing beginning does.
TEST_F(EngineShift, TurningAloneChangesLittle) {
  ASSERT_TRUE(context()->can_shift());
  for (const int shift : {1, 333}) {
    const auto there = context();
    const Row wanted = evaluate(*there, text_, shift, 0);
    const auto c = context();
    load_shifted(*c, 2, shift);
    EXPECT_TRUE(c->shifts());
    const Row got = evaluate(*c, rest(), shift + kLoaded, 2);
    EXPECT_FALSE(c->shifts());
    EXPECT_LT(divergence(wanted, got), 0.02) << shift;
    EXPECT_EQ(best_of(wanted), best_of(got)) << shift;
    RecordProperty("kl_" + std::to_string(shift), std::to_string(divergence(wanted, got)));
  }
}

TEST_F(EngineShift, OthersAreWhatTheyWere) {
  std::vector<Row> rows;
  for (const int shift : {0, 100}) {
    const auto c = context();
    const std::vector<Token> other{text_.rbegin(), text_.rend()};
    evaluate(*c, other, 0, 1);
    load_shifted(*c, 2, shift);
    rows.push_back(evaluate(*c, std::span{text_}.first(5), kText, 1));
    EXPECT_FALSE(c->shifts());
  }
  EXPECT_TRUE(rows[0] == rows[1]);
}

TEST_F(EngineShift, CopiesAreTurnedToo) {
  const auto c = context();
  load_shifted(*c, 2, 100);
  const auto copy = context();
  ASSERT_TRUE(copy->restore(2, c->save(2)));
  EXPECT_FALSE(c->shifts());
  EXPECT_EQ(c->evaluated(4), 0);
  const Row wanted = evaluate(*c, rest(), 100 + kLoaded, 2);
  EXPECT_LT(divergence(wanted, evaluate(*copy, rest(), 100 + kLoaded, 2)), 0.01);
}

TEST_F(EngineShift, WhatIsThereAlreadyStays) {
  const auto c = context();
  evaluate(*c, text_, 0, 0);
  const auto block = c->save_block(0, kBlock, kBlock);
  ASSERT_TRUE(block);
  const auto& base = block->base;
  const auto into = [&](int first, int shift) {
    const auto loaded = c->load_shifted_block(0, first, kBlock, shift, bytes_of(base));
    return loaded ? ErrorCode::kInternal : loaded.error().code();
  };
  EXPECT_EQ(into(kBlock, 60), ErrorCode::kCorrupt);
  EXPECT_EQ(into(kBlock, -100), ErrorCode::kCorrupt);
  EXPECT_EQ(into(0, kText), ErrorCode::kCorrupt);
  EXPECT_EQ(c->evaluated(0), kText);
}

TEST_F(EngineShift, WindowsAreNotMoved) {
  open(test::kGemma);
  if (IsSkipped()) return;
  const auto c = context();
  EXPECT_FALSE(c->can_shift());
  EXPECT_EQ(c->load_shifted_block(0, 0, kBlock, 5, {}).error().code(), ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace hearth::engine
