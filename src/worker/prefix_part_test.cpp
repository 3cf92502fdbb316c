// SPDX-License-Identifier: Apache-2.0
// The end of what was evaluated, where it is no whole block, and prompts that part inside one.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "worker/prefix_fixture.h"

namespace hearth::worker {
namespace {

using test::kBlock;
using test::story;
using wire::BlockTier;
using wire::FrameType;

class PrefixPart : public test::PrefixFixture {
 protected:
  // Texts are compared whose prompts were evaluated in other pieces: beside neighbours the number
  // of threads, and with it the last bits, would change between them.
  PrefixPart() { options_.threads = 1; }
  // Keeps `message`'s blocks, and has what comes when it is asked again over the same cells: the
  // same computations as with all of them restored.
  void keep_and_repeat(const wire::GenerateMessage& message) {
    first_ = keep(message);
    repeat_ = run(message, plan(0, 0));
    prompt_ = static_cast<int>(first_.prompt.size());
    ASSERT_EQ(repeat_.cached(), prompt_ - 1);
  }
  // All whole blocks of the prompt, and what follows them up to its last token but one.
  wire::PrefixPlanMessage whole_prompt() const {
    const int whole = (prompt_ - 1) / kBlock;
    wire::PrefixPlanMessage with = plan(whole, 0);
    add_end(with, (prompt_ - 1) % kBlock);
    return with;
  }
  void add_end(wire::PrefixPlanMessage& with, int tokens) const {
    const std::size_t at = with.stored.size();
    with.stored.push_back({BlockTier::kArena, static_cast<int>(at), sizes_.at(at), tokens});
  }
  std::vector<Fd> to_files(wire::PrefixPlanMessage& with) const {
    std::vector<Fd> files;
    for (auto& stored : with.stored) {
      files.push_back(file_of(stored.place));
      stored.tier = BlockTier::kDisk;
      stored.place = static_cast<int>(files.size()) - 1;
    }
    return files;
  }
  void expect_repeat(const Answered& again, int from_tier) const {
    EXPECT_EQ(again.cached(), prompt_ - 1);
    EXPECT_EQ(from_tier, prompt_ - 1);
    EXPECT_TRUE(again.prefix().refused.empty());
    EXPECT_EQ(again.reply.done.tokens, repeat_.reply.done.tokens);
  }

  Answered first_;
  Answered repeat_;
  int prompt_ = 0;
};

TEST_P(PrefixPart, TheEndIsKeptAndAllButTheLastTokenRestored) {
  keep_and_repeat(ask(story(36)));
  // Of the reply's eight tokens the last was not evaluated.
  EXPECT_EQ(first_.blocks.part, (prompt_ + 7) % kBlock);
  ASSERT_LT(prompt_ % kBlock + 7, kBlock) << "it ends in the block where the prompt does";
  EXPECT_EQ(static_cast<int>(first_.blocks.generated.size()), 7);
  start();
  const Answered memory = run(ask(story(36)), whole_prompt());
  expect_repeat(memory, memory.prefix().arena);
  start();
  wire::PrefixPlanMessage on_disk = whole_prompt();
  std::vector<Fd> files = to_files(on_disk);
  const Answered disk = run(ask(story(36)), on_disk, std::move(files));
  expect_repeat(disk, disk.prefix().disk);
}

TEST_P(PrefixPart, IsReadWhileTheWeightsLoad) {
  keep_and_repeat(ask(story(36)));
  front_->unload();
  const std::uint64_t id = ++last_;
  front_->send(FrameType::kGenerate, id, wire::encode(ask(story(36))));
  front_->next(FrameType::kTokenized);
  front_->send_plan(id, whole_prompt());
  front_->load();
  const test::Reply again = front_->collect(1)[id];
  EXPECT_EQ(again.started.cached_tokens, prompt_ - 1);
  EXPECT_EQ(again.done.tokens, repeat_.reply.done.tokens);
}

TEST_P(PrefixPart, MayBeTheEndOfWhatIsReadFromTheBack) {
  keep_and_repeat(ask(story(40)));
  start();
  wire::PrefixPlanMessage both = whole_prompt();
  both.both_ways = true;
  const Answered again = run(ask(story(40)), both);
  EXPECT_GT(again.cached(), 0);
  EXPECT_TRUE(again.prefix().refused.empty());
  EXPECT_EQ(again.reply.done.tokens, first_.reply.done.tokens);
}

// What the other prompt has in the block stays out of the cells.
TEST_P(PrefixPart, TwoPromptsThatPartInsideABlockShareWhatIsCommon) {
  const auto other = ask(story(36) + "The baker", 8);
  keep_and_repeat(ask(story(36) + "The miller said that", 16));
  const Answered live = run(other, plan(0, 0));
  const auto& prompt = live.prompt;
  const int common =
      static_cast<int>(std::ranges::mismatch(prompt, first_.prompt).in1 - prompt.begin());
  ASSERT_EQ(live.cached(), common);
  ASSERT_GE(common % kBlock, static_cast<int>(blocks::kLeastPart));
  start();
  wire::PrefixPlanMessage with = plan(common / kBlock, 0);
  add_end(with, common % kBlock);
  const Answered restored = run(other, with);
  EXPECT_EQ(restored.cached(), common);
  EXPECT_EQ(restored.prefix().arena, common);
  EXPECT_EQ(restored.reply.done.tokens, live.reply.done.tokens);
  // And further on from there.
  const Answered more = run(ask(story(36) + "The baker came home.", 8), plan(0, 0));
  EXPECT_GT(more.cached(), common);
}

TEST_P(PrefixPart, AWholeBlockThatEndsWithThePromptLosesItsLastToken) {
  const Answered longer = keep(ask(story(36)));
  std::vector<int> tokens = longer.prompt;
  tokens.resize(static_cast<std::size_t>(5 * kBlock));
  auto message = ask("");
  message.prompt_tokens = tokens;
  message.add_special = false;
  const Answered live = run(message, plan(0, 0));
  ASSERT_EQ(live.cached(), 5 * kBlock - 1);
  start();
  const Answered again = run(message, plan(5, 0));
  EXPECT_EQ(again.cached(), 5 * kBlock - 1);
  EXPECT_EQ(again.reply.done.tokens, live.reply.done.tokens);
}

TEST_P(PrefixPart, ADamagedEndCostsNothingElse) {
  keep_and_repeat(ask(story(36)));
  const int whole = prompt_ / kBlock;
  flip(whole, 5000);
  start();
  const Answered again = run(ask(story(36)), whole_prompt());
  ASSERT_EQ(again.prefix().refused.size(), 1U);
  EXPECT_EQ(again.prefix().refused[0].block, whole);
  EXPECT_EQ(again.prefix().refused[0].reason, "checksum");
  EXPECT_EQ(again.cached(), whole * kBlock);
  EXPECT_EQ(again.reply.done.tokens, first_.reply.done.tokens);
}

TEST_P(PrefixPart, IsRefusedWhereItIsNotWhatWasSaid) {
  keep_and_repeat(ask(story(36)));
  const int whole = prompt_ / kBlock;
  const auto reason = [&](wire::PrefixPlanMessage with) {
    start();
    const Answered again = run(ask(story(36)), with);
    EXPECT_EQ(again.prefix().refused.size(), 1U);
    return again.prefix().refused.empty() ? "" : again.prefix().refused[0].reason;
  };
  wire::PrefixPlanMessage elsewhere = plan(whole - 1, 0);
  elsewhere.stored.push_back({BlockTier::kArena, whole, sizes_.back(), prompt_ % kBlock});
  EXPECT_EQ(reason(elsewhere), "tokens") << "another predecessor";
  wire::PrefixPlanMessage too_many = plan(whole - 1, 0);
  too_many.stored.push_back({BlockTier::kArena, whole, sizes_.back(), 0});
  EXPECT_EQ(reason(too_many), "tokens") << "no whole block";
}

TEST_P(PrefixPart, IsKeptWhenItsCellsAreWantedAtOnce) {
  options_.parallel = 1;
  start();
  front_->send(FrameType::kGenerate, 1, wire::encode(ask(story(20, "fox"), 2)));
  front_->send(FrameType::kGenerate, 2, wire::encode(ask(story(20, "crow"), 2)));
  front_->next(FrameType::kTokenized);
  front_->next(FrameType::kTokenized);
  front_->send_plan(1, plan(0, 64));
  front_->send_plan(2, plan(0, 0));
  const auto blocks = wire::decode_blocks(front_->next(FrameType::kBlocks).payload);
  ASSERT_TRUE(blocks);
  EXPECT_GT(blocks->part, 0);
  EXPECT_EQ(blocks->generated.size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Both, PrefixPart,
                         testing::Values(engine::test::kSmol, engine::test::kGemma),
                         [](const auto& test) { return std::string{test.param}.substr(0, 5); });

}  // namespace
}  // namespace hearth::worker
