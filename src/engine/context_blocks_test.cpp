// SPDX-License-Identifier: Apache-2.0
// Blocks of evaluated state, out of one context and into others: the same bits come out.
#include <gtest/gtest.h>
#include <llama.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/temporary_directory.h"
#include "engine/backends.h"
#include "engine/context.h"
#include "engine/engine_log.h"
#include "engine/model.h"
#include "engine/test_models.h"
#include "engine/vocabulary.h"

namespace hearth::engine {
namespace {

constexpr int kTokens = 64;
constexpr int kPrompt = 700;
constexpr int kSteps = 8;
constexpr int kCells = 2048;
constexpr const char* kChildModel = "HEARTH_TEST_BLOCK_MODEL";
constexpr const char* kChildFile = "HEARTH_TEST_BLOCK_FILE";
constexpr const char* kChildCached = "HEARTH_TEST_BLOCK_CACHED";

using Window = Context::Window;
using Blocks = std::vector<Context::BlockState>;
using Rows = std::vector<std::vector<float>>;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span{text});
}

// One model and a prompt, evaluated in contexts that are made on demand.
class Bench {
 public:
  Bench(const std::string& path, int threads) : threads_{threads} {
    route_engine_log();
    EXPECT_TRUE(load_backends());
    vocabulary_ = std::move(*Vocabulary::open({path}));
    model_ =
        std::make_unique<Model>(std::move(*Model::load({path}, *vocabulary_, Repack::kYes, {})));
    unsigned state = 7;  // the same words in every process
    std::string text;
    for (int i = 0; i < kPrompt; ++i) {
      state = state * 1664525 + 1013904223;
      text += std::string{" river"} + static_cast<char>('a' + state % 26);
    }
    prompt_ = vocabulary_->tokenize(text, AddSpecial::kYes);
    prompt_.resize(kPrompt);
  }

  std::unique_ptr<Context> context(int cells = kCells) {
    auto made = Context::create(*model_, {cells, 5}, threads_, abort_);
    EXPECT_TRUE(made);
    return std::move(*made);
  }
  void evaluate(Context& c, int from, int sequence, int to = kPrompt) {
    c.clear();
    for (int i = from; i < to; ++i) {
      c.add(prompt_[static_cast<std::size_t>(i)], i, sequence,
            i + 1 == to ? Logits::kYes : Logits::kNo);
    }
    ASSERT_EQ(c.decode(), Decoded::kDone);
  }
  // The prompt's last logits, and those of some greedy steps after it.
  Rows steps(Context& c, int sequence) {
    Rows rows;
    for (int step = 0; step <= kSteps; ++step) {
      const float* values = llama_get_logits_ith(c.handle(), -1);
      rows.emplace_back(values, values + vocabulary_->size());
      const auto best = std::max_element(rows.back().begin(), rows.back().end());
      c.clear();
      c.add(static_cast<Token>(best - rows.back().begin()), kPrompt + step, sequence, Logits::kYes);
      EXPECT_EQ(c.decode(), Decoded::kDone);
    }
    return rows;
  }
  Rows with(const Blocks& blocks, int cached) {
    const auto c = context();
    load(*c, blocks, cached);
    evaluate(*c, cached, 2);
    return steps(*c, 2);
  }
  static void load(Context& c, const Blocks& blocks, int cached) {
    for (int at = 0; at < cached; at += kTokens) {
      const auto& block = blocks[static_cast<std::size_t>(at / kTokens)];
      const auto loaded =
          c.load_block(2, at, kTokens, bytes_of(block.base), bytes_of(block.window));
      ASSERT_TRUE(loaded) << loaded.error().message();
    }
    EXPECT_EQ(c.evaluated(2), cached);
  }
  static Blocks save(Context& c, int sequence) {
    Blocks blocks;
    for (int at = 0; at + kTokens <= c.evaluated(sequence); at += kTokens) {
      auto block = c.save_block(sequence, at, kTokens);
      EXPECT_TRUE(block) << block.error().message();
      if (block) blocks.push_back(std::move(*block));
    }
    return blocks;
  }

  const Model& model() const { return *model_; }
  const Vocabulary& vocabulary() const { return *vocabulary_; }

 private:
  CpuThreads threads_;
  AbortFlags abort_;
  std::unique_ptr<Vocabulary> vocabulary_;
  std::unique_ptr<Model> model_;
  std::vector<Token> prompt_;
};

void write_blocks(const std::string& path, const Blocks& blocks) {
  std::ofstream out{path, std::ios::binary};
  for (const auto& block : blocks) {
    out << block.base.size() << ' ' << block.window.size() << '\n' << block.base << block.window;
  }
}

Blocks read_blocks(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  Blocks blocks;
  std::size_t base = 0;
  std::size_t window = 0;
  while (in >> base >> window) {
    in.get();
    blocks.push_back({std::string(base, '\0'), std::string(window, '\0')});
    in.read(blocks.back().base.data(), static_cast<std::streamsize>(base));
    in.read(blocks.back().window.data(), static_cast<std::streamsize>(window));
  }
  return blocks;
}

std::string bits_of(const Rows& rows) {
  std::string out;
  for (const auto& row : rows) {
    out.append(reinterpret_cast<const char*>(row.data()), row.size() * sizeof(float));
  }
  return out;
}

std::string contents(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  return std::move(std::ostringstream{} << in.rdbuf()).str();
}

class EngineBlocks : public testing::TestWithParam<const char*> {};

TEST_P(EngineBlocks, GiveTheSameBitsAsEvaluating) {
  HEARTH_MODEL_OR_SKIP(path, GetParam());
  for (const int threads : {1, 2}) {
    Bench bench{path, threads};
    EXPECT_EQ(bench.model().not_restorable(), "");
    const auto c = bench.context();
    bench.evaluate(*c, 0, 0);
    const Blocks blocks = Bench::save(*c, 0);
    ASSERT_EQ(blocks.size(), 10U);
    const Rows wanted = bench.steps(*c, 0);
    // 640 would leave fewer than 64 tokens to a micro-batch, 128 too: 512 and 60.
    const auto some = threads == 1 ? std::vector{512} : std::vector{576, 320};
    for (const int cached : some) {
      EXPECT_TRUE(bench.with(blocks, cached) == wanted) << cached << ", threads " << threads;
    }
  }
}

TEST(EngineBlocksChild, EvaluatesTheRest) {
  const char* path = std::getenv(kChildModel);
  if (path == nullptr) GTEST_SKIP() << "only for EngineBlocks";
  const std::string file = std::getenv(kChildFile);
  Bench bench{path, 2};
  const Rows rows = bench.with(read_blocks(file), std::atoi(std::getenv(kChildCached)));
  std::ofstream{file + ".logits", std::ios::binary} << bits_of(rows);
}

TEST_P(EngineBlocks, OutliveTheProcess) {
  HEARTH_MODEL_OR_SKIP(path, GetParam());
  const TemporaryDirectory directory;
  const std::string file = directory / "blocks";
  Bench bench{path, 2};
  const auto c = bench.context();
  bench.evaluate(*c, 0, 0);
  write_blocks(file, Bench::save(*c, 0));
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = std::string{kChildModel} + "='" + path + "' " + kChildFile + "='" +
                              file + "' " + kChildCached + "=576 '" + self +
                              "' --gtest_filter=EngineBlocksChild.* >/dev/null 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_TRUE(contents(file + ".logits") == bits_of(bench.steps(*c, 0)));
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(static_cast<double>(a[i]) - b[i]));
  }
  return most;
}

TEST_P(EngineBlocks, SharedCellsEvaluateAsSeparateOnes) {
  HEARTH_MODEL_OR_SKIP(path, GetParam());
  Bench bench{path, 1};
  const auto c = bench.context();
  bench.evaluate(*c, 0, 0);
  const Rows wanted = bench.steps(*c, 0);
  c->share(0, 1, 576);
  EXPECT_EQ(c->evaluated(1), 576);
  c->keep(0, 0);  // the cells stay for the other
  bench.evaluate(*c, 576, 1);
  const Rows shared = bench.steps(*c, 1);
  // A copied window lies in other cells, and sums come in another order: up to 1.3 whatever the
  // way there. A window that lacks something is far off.
  if (c->sliding_window() == 0) {
    EXPECT_TRUE(shared == wanted);
  }
  EXPECT_LT(largest_difference(shared[0], wanted[0]), 2.0);
}

TEST_P(EngineBlocks, DamagedStatesAreRefusedAndLeaveNothing) {
  HEARTH_MODEL_OR_SKIP(path, GetParam());
  Bench bench{path, 2};
  const auto c = bench.context();
  bench.evaluate(*c, 0, 0, 128);
  const Blocks blocks = Bench::save(*c, 0);
  const auto other = bench.context(512);
  const auto refused = [&](const std::string& base, const std::string& window) {
    const auto loaded = other->load_block(2, 0, kTokens, bytes_of(base), bytes_of(window));
    return !loaded && loaded.error().code() == ErrorCode::kCorrupt && other->evaluated(2) == 0;
  };
  const auto& [base, window] = blocks[0];
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, std::size_t{16}, std::size_t{500},
                                 std::size_t{900}, base.size() / 2, base.size() - 1}) {
    EXPECT_TRUE(refused(base.substr(0, size), window)) << size;
  }
  EXPECT_TRUE(refused(base + "more", window));
  EXPECT_TRUE(refused(base, window + "more"));
  EXPECT_TRUE(refused(blocks[1].base, blocks[1].window));
  // Every number before the layers' data in turn, as large as it can be, and off by one.
  for (std::size_t at = 0; at < 1000; at += 4) {
    std::string wrong = base;
    wrong.replace(at, 4, "\xFF\xFF\xFF\xFF");
    const auto loaded = other->load_block(2, 0, kTokens, bytes_of(wrong), bytes_of(window));
    if (loaded) other->keep(2, 0);  // it was a sequence's id, or data
    EXPECT_EQ(other->evaluated(2), 0);
  }
  ASSERT_TRUE(other->load_block(2, 0, kTokens, bytes_of(base), bytes_of(window)));
  EXPECT_EQ(other->evaluated(2), kTokens);
}

TEST_P(EngineBlocks, SayThatThereAreNoCells) {
  HEARTH_MODEL_OR_SKIP(path, GetParam());
  Bench bench{path, 2};
  const auto c = bench.context();
  bench.evaluate(*c, 0, 0, 330);
  EXPECT_EQ(c->save_block(1, 0, kTokens).error().code(), ErrorCode::kConflict);
  EXPECT_EQ(c->save_block(0, 320, kTokens).error().code(), ErrorCode::kConflict);
  const Blocks blocks = Bench::save(*c, 0);
  const auto small = bench.context(256);
  Bench::load(*small, blocks, 256);
  const auto full =
      small->load_block(2, 256, kTokens, bytes_of(blocks[4].base), bytes_of(blocks[4].window));
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code(), ErrorCode::kNoSpace) << full.error().message();
  EXPECT_EQ(small->evaluated(2), 256);
}

INSTANTIATE_TEST_SUITE_P(Models, EngineBlocks, testing::Values(test::kSmol, test::kGemma),
                         [](const auto& test) {
                           return std::string{test.param}.substr(0, 5) == "SmolL" ? "Smol"
                                                                                  : "Gemma";
                         });

// What is further back than the window is needed for the other layers only.
TEST(EngineBlocksWindow, IsNeededForTheLastBlocksOnly) {
  HEARTH_MODEL_OR_SKIP(path, test::kGemma);
  Bench bench{path, 1};
  const auto c = bench.context();
  EXPECT_EQ(c->sliding_window(), 512);
  bench.evaluate(*c, 0, 0);
  Blocks blocks = Bench::save(*c, 0);
  blocks[0] = *c->save_block(0, 0, kTokens, Window::kLeftOut);
  EXPECT_EQ(blocks[0].window, "");
  const Rows wanted = bench.steps(*c, 0);
  EXPECT_TRUE(bench.with(blocks, 576) == wanted);
}

}  // namespace
}  // namespace hearth::engine
