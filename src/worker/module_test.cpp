// SPDX-License-Identifier: Apache-2.0
// Texts that were evaluated by themselves, at other positions of a prompt.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "blocks/block_chain.h"
#include "engine/test_models.h"
#include "worker/test_front.h"

namespace hearth::worker {
namespace {

using test::greedy;
using test::Reply;
using test::TestFront;
using wire::BlockTier;
using wire::FrameType;

constexpr int kBlock = static_cast<int>(blocks::kBlockTokens);
const std::string kDomain(64, 'a');
constexpr const char* kHead = "You are the butler. Be brief.\n";
constexpr const char* kQuestion = "\nWhich lamp is lit first?";

std::string house() {
  std::string text;
  for (int i = 0; i < 16; ++i) {
    text += "Rule " + std::to_string(i * 37 % 101) + ": the lamp in room " +
            std::to_string(i * i % 89) + " is lit at dusk.\n";
  }
  return text;
}

// A front that keeps one module: its blocks lie in the arena's slots 0, 1, ...
class ModuleBlocks : public testing::Test {
 protected:
  void SetUp() override {
    path_ = engine::test::model_path(engine::test::kSmol).value_or("");
    if (path_.empty()) GTEST_SKIP() << "no model";
    arena_ = Fd{::memfd_create("arena", MFD_CLOEXEC)};
  }
  void start(wire::LoadOptions options = {}) {
    options.context_limit = 512;
    options.parallel = 2;
    options.threads = 1;
    front_ = std::make_unique<TestFront>();
    front_->open(path_, options);
    front_->send_file(FrameType::kArena, "{}", arena_);
    front_->load();
  }

  struct Answered {
    Reply reply;
    std::vector<int> prompt;
    wire::BlocksMessage blocks;
    int cached() const { return reply.started.cached_tokens; }
    const wire::PrefixOutcome& prefix() const { return reply.started.prefix; }
  };
  std::uint64_t ask(const std::string& prompt, int tokens = 2) {
    wire::GenerateMessage message = greedy(prompt, tokens);
    message.domain = kDomain;
    message.plan_prefix = true;
    message.ignore_eos = true;
    message.return_tokens = true;
    front_->send(FrameType::kGenerate, ++last_, wire::encode(message));
    return last_;
  }
  Answered run(const std::string& prompt, const wire::PrefixPlanMessage& plan, int tokens = 2) {
    const std::uint64_t id = ask(prompt, tokens);
    const auto tokenized = wire::decode_tokenized(front_->next(FrameType::kTokenized).payload);
    EXPECT_TRUE(tokenized);
    front_->send_plan(id, plan);
    Answered answered;
    answered.prompt = tokenized->tokens;
    answered.reply = front_->collect(1)[id];
    if (plan.keep.empty()) return answered;
    const auto blocks = wire::decode_blocks(front_->next(FrameType::kBlocks).payload);
    EXPECT_TRUE(blocks);
    answered.blocks = blocks.value_or(wire::BlocksMessage{});
    return answered;
  }
  wire::PrefixPlanMessage keeping(int slot, int count) const {
    wire::PrefixPlanMessage plan;
    for (int i = 0; i < count; ++i) plan.keep.push_back(slot + i);
    plan.keep_limit = Bytes{std::uint64_t{1} << 30};
    return plan;
  }
  // Evaluates the module by itself.
  void keep_module() {
    const Answered alone = run(house(), keeping(0, 16), 1);
    module_.tokens = alone.prompt;
    for (const Bytes size : alone.blocks.sizes) {
      const int slot = static_cast<int>(module_.stored.size());
      if ((slot + 1) * kBlock > static_cast<int>(alone.prompt.size())) break;
      module_.stored.push_back({BlockTier::kArena, slot, size});
    }
    ASSERT_GE(module_.stored.size(), 3U);
  }
  wire::PrefixPlanMessage with_module(int keep = 0) const {
    wire::PrefixPlanMessage plan = keeping(20, keep);
    plan.modules.push_back(module_);
    return plan;
  }
  int usable() const { return kBlock * (static_cast<int>(module_.stored.size()) - 1); }
  void damage(int slot) const {
    const char wrong[4] = {1, 2, 3, 4};
    const auto at =
        static_cast<off_t>(wire::kArenaPitch.count() * static_cast<unsigned>(slot) + 5000);
    ASSERT_EQ(::pwrite(arena_.get(), wrong, sizeof wrong, at), 4);
  }

  std::string path_;
  Fd arena_;
  std::unique_ptr<TestFront> front_;
  wire::PrefixPlanMessage::Module module_;
  std::uint64_t last_ = 0;
};

TEST_F(ModuleBlocks, AreUsedAtOtherPositionsAndByNobodyElse) {
  start();
  keep_module();
  start();  // nothing is in cells
  const std::string prompt = kHead + house() + kQuestion;
  const Answered spliced = run(prompt, with_module(16));
  EXPECT_EQ(spliced.prefix().shifted, usable());
  EXPECT_EQ(spliced.cached(), usable());
  EXPECT_EQ(spliced.reply.done.tokens.size(), 2U);
  EXPECT_GT(spliced.prefix().arena_bytes, Bytes{});
  // Kept is what was evaluated before the first of them, and so is what others find in cells.
  const int whole = static_cast<int>(spliced.blocks.sizes.size()) - 1;
  EXPECT_EQ(whole, 1);
  const int exact = whole * kBlock + spliced.blocks.part;
  EXPECT_GT(spliced.blocks.part, 0);
  EXPECT_TRUE(spliced.blocks.generated.empty());
  const Answered plain = run(prompt, {});
  EXPECT_EQ(plain.prefix().shifted, 0);
  EXPECT_EQ(plain.cached(), exact);
  EXPECT_EQ(plain.cached(), plain.prefix().live);
  // And what is exact is taken first.
  const Answered again = run(prompt, with_module());
  EXPECT_EQ(again.prefix().shifted, 0);
  EXPECT_EQ(again.cached(), static_cast<int>(again.prompt.size()) - 1);
  EXPECT_EQ(again.reply.done.tokens, plain.reply.done.tokens);
}

TEST_F(ModuleBlocks, DamagedOnesAreComputed) {
  start();
  keep_module();
  start();
  damage(2);
  const std::string prompt = kHead + house() + kQuestion;
  const Answered some = run(prompt, with_module());
  EXPECT_EQ(some.prefix().shifted, kBlock);
  EXPECT_EQ(some.reply.done.tokens.size(), 2U);
  start();
  damage(1);
  EXPECT_EQ(run(prompt, with_module()).cached(), 0);
  // Nothing approximate was in it, so all of it is of use.
  EXPECT_GT(run(prompt, {}).cached(), 3 * kBlock);
}

// Whoever follows another prompt does so up to its first module only.
TEST_F(ModuleBlocks, AreNotSharedWithThoseThatFollow) {
  start();
  keep_module();
  start();
  const std::string prompt = kHead + house() + kQuestion;
  const std::uint64_t first = ask(prompt);
  const std::uint64_t second = ask(prompt);
  front_->next(FrameType::kTokenized);
  front_->next(FrameType::kTokenized);
  front_->send_plan(first, with_module());
  front_->send_plan(second, {});
  const auto replies = front_->collect(2);
  EXPECT_EQ(replies.at(first).started.prefix.shifted, usable());
  const auto& plain = replies.at(second).started;
  EXPECT_EQ(plain.prefix.shifted, 0);
  EXPECT_EQ(plain.cached_tokens, plain.prefix.live);
  EXPECT_LT(plain.cached_tokens, 2 * kBlock);
}

TEST_F(ModuleBlocks, AreNotForExactRepeats) {
  start();
  keep_module();
  wire::LoadOptions exact;
  exact.exact = true;
  start(exact);
  EXPECT_EQ(run(kHead + house() + kQuestion, with_module()).cached(), 0);
}

}  // namespace
}  // namespace hearth::worker
