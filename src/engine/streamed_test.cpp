// SPDX-License-Identifier: Apache-2.0
// Weights of our own reading against the engine's plain load: the same bits.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <llama.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "engine/backends.h"
#include "engine/context.h"
#include "engine/engine_log.h"
#include "engine/metadata.h"
#include "engine/model.h"
#include "engine/placement.h"
#include "engine/test_logits.h"
#include "engine/test_models.h"
#include "engine/vocabulary.h"
#include "engine/weight_set.h"

namespace hearth::engine {
namespace {

constexpr int kCells = 512;
constexpr const char* kPrompt =
    "The old clock on the mantelpiece had stopped years ago, but nobody in the house minded,";

class Streamed : public testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() {
    route_engine_log();
    ASSERT_TRUE(load_backends());
  }
  void open(const std::string& path) {
    path_ = path;
    vocabulary_ = std::move(*Vocabulary::open({path}));
    prompt_ = vocabulary_->tokenize(kPrompt, AddSpecial::kYes);
    auto metadata = Metadata::read({path});
    ASSERT_TRUE(metadata);
    metadata_ = std::make_unique<Metadata>(std::move(*metadata));
    auto placed = place(*metadata_, Repack::kYes, kCells, 2);
    ASSERT_TRUE(placed) << placed.error().message();
    placement_ = std::move(*placed);
    file_ = Fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  }
  Result<Model> stream(WeightSet::Keep keep) {
    WeightSet::Sources sources;
    sources.files = {file_.get()};
    sources.keep = keep;
    auto weights = WeightSet::open(*metadata_, placement_, std::move(sources));
    if (!weights) return Failed{weights.error()};
    return Model::stream(*metadata_, std::move(*weights));
  }
  static void fill(WeightSet& weights, const Weight& weight) {
    const auto source = weights.source(weight);
    if (weight.home == Home::kRepacked) weights.set(weight, source);
    if (weight.home == Home::kCopied) {
      std::copy(source.begin(), source.end(), weights.destination(weight).begin());
    }
  }
  std::vector<float> logits(const Model& model) {
    CpuThreads threads{2};
    return test::last_logits(model, prompt_, kCells, threads, abort_);
  }

  std::string path_;
  Fd file_;
  AbortFlags abort_;
  std::unique_ptr<Vocabulary> vocabulary_;
  std::unique_ptr<Metadata> metadata_;
  Placement placement_;
  std::vector<Token> prompt_;
};

TEST_P(Streamed, GivesTheSameBitsAsAPlainLoad) {
  HEARTH_MODEL_OR_SKIP(path, GetParam());
  open(path);
  const auto plain = Model::load({path}, *vocabulary_, Repack::kYes, {});
  ASSERT_TRUE(plain);
  const std::vector<float> wanted = logits(*plain);
  for (const auto keep : {WeightSet::Keep::kMapped, WeightSet::Keep::kCopied}) {
    const auto model = stream(keep);
    ASSERT_TRUE(model) << model.error().message();
    // While somebody evaluates, from first to last, as readers do.
    std::thread reader{[&] {
      WeightSet& weights = *model->weights();
      for (std::size_t i = 0; i < weights.weights().size(); ++i) {
        fill(weights, weights.weights()[i]);
        weights.gate().open(i);
        std::this_thread::yield();
      }
      weights.gate().open_all();
    }};
    EXPECT_EQ(logits(*model), wanted);
    reader.join();
    EXPECT_EQ(logits(*model), wanted);  // and once everything is there
  }
}

TEST_P(Streamed, WaitsForWeightsAndGivesUpWhenTold) {
  HEARTH_MODEL_OR_SKIP(path, GetParam());
  open(path);
  const auto model = stream(WeightSet::Keep::kMapped);
  ASSERT_TRUE(model);
  CpuThreads threads{2};
  auto context = Context::create(*model, {kCells, 2}, threads, abort_);
  ASSERT_TRUE(context);
  (*context)->add(prompt_.front(), 0, 0, Logits::kYes);
  // Some weights come, so that it begins; the rest does not, and it is told so.
  std::atomic<std::uint64_t> asked{0};
  abort_.pulse = &asked;
  const std::size_t some = model->weights()->weights().size() / 4;
  for (std::size_t i = 0; i < some; ++i) model->weights()->gate().open(i);
  std::thread teller{[&] {
    while (asked == 0) std::this_thread::yield();
    abort_.no_weights = true;
  }};
  EXPECT_EQ((*context)->decode(), Decoded::kAborted);
  teller.join();
  EXPECT_EQ((*context)->evaluated(0), 0);
}

TEST_P(Streamed, PlacesWhatThePlainLoadRepacks) {
  HEARTH_MODEL_OR_SKIP(path, GetParam());
  open(path);
  // On x86 with AVX2: gemma's file has Q4_K among its types, SmolLM2's Q4_1 stays as it is.
  const bool gemma = std::string{GetParam()} == test::kGemma;
  EXPECT_EQ(placement_.repacked_bytes > Bytes{}, gemma);
  EXPECT_EQ(placement_.layout.size(), 64U);
  auto none = place(*metadata_, Repack::kNo, kCells, 2);
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->repacked.empty());
  EXPECT_GT(none->estimate.context, Bytes{});
}

INSTANTIATE_TEST_SUITE_P(Models, Streamed, testing::Values(test::kSmol, test::kGemma),
                         [](const auto& test) {
                           return std::string{test.param}.substr(0, 5) == "SmolL" ? "Smol"
                                                                                  : "Gemma";
                         });

TEST(StreamedFile, RefusesOneThatEndsTooEarly) {
  HEARTH_MODEL_OR_SKIP(path, test::kSmol);
  route_engine_log();
  ASSERT_TRUE(load_backends());
  auto metadata = Metadata::read({path});
  ASSERT_TRUE(metadata);
  const Placement nothing;
  const Fd file{::memfd_create("short", MFD_CLOEXEC)};
  ASSERT_EQ(::ftruncate(file.get(), 1 << 20), 0);
  WeightSet::Sources sources;
  sources.files = {file.get()};
  const auto opened = WeightSet::open(*metadata, nothing, std::move(sources));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), ErrorCode::kCorrupt);
  EXPECT_NE(opened.error().message().find("ends before the data of tensor"), std::string::npos);
}

}  // namespace
}  // namespace hearth::engine
