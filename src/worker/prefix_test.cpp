// SPDX-License-Identifier: Apache-2.0
// Prompt state beyond live cells: kept in an arena, restored from there and from files.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "worker/prefix_fixture.h"

namespace hearth::worker {
namespace {

using test::kBlock;
using test::kOtherDomain;
using test::Reply;
using test::story;
using wire::BlockTier;
using wire::Frame;
using wire::FrameType;

class Prefix : public test::PrefixFixture {};

int whole_blocks(int tokens) { return tokens / kBlock * kBlock; }

TEST_P(Prefix, IsKeptAndRestoredByAnotherWorker) {
  const auto message = ask(story(36));
  const Answered first = keep(message);
  const int prompt = first.reply.started.prompt_tokens;
  ASSERT_GT(prompt, 300);
  EXPECT_EQ(first.cached(), 0);
  EXPECT_EQ(first.kept, (prompt + 7) / kBlock) << first.blocks.reason;
  start();
  const Answered again = run(message, plan(whole_blocks(prompt - 1) / kBlock, 2));
  EXPECT_EQ(again.cached(), whole_blocks(prompt - 1));
  EXPECT_EQ(again.prefix().arena, again.cached());
  EXPECT_GT(again.prefix().arena_bytes, Bytes{});
  EXPECT_TRUE(again.prefix().refused.empty());
  EXPECT_EQ(again.reply.done.tokens, first.reply.done.tokens);
}

TEST_P(Prefix, IsRestoredFromFilesInSeveralFrames) {
  const auto message = ask(story(36));
  const Answered first = keep(message);
  start();
  const std::uint64_t id = ++last_;
  front_->send(FrameType::kGenerate, id, wire::encode(message));
  front_->next(FrameType::kTokenized);
  const int blocks = (first.reply.started.prompt_tokens - 1) / kBlock;
  for (int i = 0; i < blocks; i += 4) {
    wire::PrefixPlanMessage part;
    std::vector<Fd> files;
    for (int k = i; k < std::min(i + 4, blocks); ++k) {
      part.stored.push_back({BlockTier::kDisk, k - i, sizes_[static_cast<std::size_t>(k)]});
      files.push_back(file_of(k));
    }
    part.more = i + 4 < blocks;
    front_->send_plan(id, part, std::move(files));
  }
  const Reply again = front_->collect(1)[id];
  EXPECT_EQ(again.started.cached_tokens, blocks * kBlock);
  EXPECT_EQ(again.started.prefix.disk, blocks * kBlock);
  EXPECT_EQ(again.done.tokens, first.reply.done.tokens);
}

TEST_P(Prefix, DamagedBlocksAreComputedAnew) {
  const auto message = ask(story(36));
  const Answered first = keep(message);
  const int blocks = (first.reply.started.prompt_tokens - 1) / kBlock;
  flip(3, 5000);
  start();
  const Answered again = run(message, plan(blocks, 0));
  ASSERT_EQ(again.prefix().refused.size(), 1U);
  EXPECT_EQ(again.prefix().refused[0].block, 3);
  EXPECT_EQ(again.prefix().refused[0].reason, "checksum");
  EXPECT_LE(again.cached(), 3 * kBlock);
  EXPECT_EQ(again.reply.done.tokens, first.reply.done.tokens);
}

TEST_P(Prefix, OtherTokensAreNotTakenForThese) {
  keep(ask(story(36)));
  const auto message = ask(story(36, "baker"));
  start();
  const Answered other = run(message, plan(6, 0));
  EXPECT_EQ(other.cached(), 0);
  ASSERT_EQ(other.prefix().refused.size(), 1U);
  EXPECT_EQ(other.prefix().refused[0].reason, "tokens");
}

TEST_P(Prefix, MeetsInTheMiddle) {
  const auto message = ask(story(40));
  const Answered first = keep(message);
  const int blocks = (first.reply.started.prompt_tokens - 1) / kBlock;
  start();
  wire::PrefixPlanMessage both = plan(blocks, 0);
  both.both_ways = true;
  const Answered again = run(message, both);
  EXPECT_GT(again.cached(), 0);
  EXPECT_EQ(again.reply.done.tokens, first.reply.done.tokens);
}

TEST_P(Prefix, LiveCellsOfAnotherDomainAreNotLookedAt) {
  auto message = ask(story(30));
  run(message, plan(0, 0));
  EXPECT_GT(run(message, plan(0, 0)).cached(), 200);
  message.domain = kOtherDomain;
  EXPECT_EQ(run(message, plan(0, 0)).cached(), 0);
}

TEST_P(Prefix, OneSequenceServesTwoConversationsInTurn) {
  options_.parallel = 1;
  start();
  const Answered a = keep(ask(story(20, "fox")));
  const auto sizes = a.blocks.sizes;
  run(ask(story(20, "crow")), plan(0, 0));
  sizes_ = sizes;
  const int blocks = (a.reply.started.prompt_tokens - 1) / kBlock;
  const Answered again = run(ask(story(20, "fox")), plan(blocks, 0));
  EXPECT_EQ(again.cached(), blocks * kBlock);
  EXPECT_EQ(again.reply.done.tokens, a.reply.done.tokens);
}

// The next request wants the cells before there was time to copy them.
TEST_P(Prefix, IsKeptWhenItsCellsAreWantedAtOnce) {
  options_.parallel = 1;
  start();
  const auto first = ask(story(20, "fox"), 2);
  const auto second = ask(story(20, "crow"), 2);
  front_->send(FrameType::kGenerate, 1, wire::encode(first));
  front_->send(FrameType::kGenerate, 2, wire::encode(second));
  front_->next(FrameType::kTokenized);
  front_->next(FrameType::kTokenized);
  front_->send_plan(1, plan(0, 64));
  front_->send_plan(2, plan(0, 0));
  std::map<std::uint64_t, Reply> replies;
  std::optional<wire::BlocksMessage> blocks;
  for (int ended = 0; ended < 2 || !blocks;) {
    const Frame frame = front_->next();
    if (frame.type == FrameType::kDone) {
      replies[frame.request].done = *wire::decode_done(frame.payload);
      ++ended;
    }
    if (frame.type == FrameType::kBlocks) blocks = *wire::decode_blocks(frame.payload);
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_EQ(whole_of(*blocks), (replies[1].done.prompt_tokens + 1) / kBlock) << blocks->reason;
  sizes_ = blocks->sizes;
  const Answered again = run(first, plan((replies[1].done.prompt_tokens - 1) / kBlock, 0));
  EXPECT_EQ(again.cached(), whole_blocks(replies[1].done.prompt_tokens - 1));
  EXPECT_EQ(again.reply.done.tokens, replies[1].done.tokens);
}

TEST_P(Prefix, ACommonBeginningIsEvaluatedOnce) {
  options_.parallel = 4;
  start();
  const std::string common = story(25);
  constexpr int kAgents = 6;
  for (std::uint64_t i = 1; i <= kAgents; ++i) {
    const auto message = ask(common + "Agent " + std::to_string(i) + " says:", 4);
    front_->send(FrameType::kGenerate, i, wire::encode(message));
  }
  for (std::uint64_t i = 1; i <= kAgents; ++i) front_->next(FrameType::kTokenized);
  for (std::uint64_t i = 1; i <= kAgents; ++i) front_->send_plan(i, plan(0, 0));
  auto replies = front_->collect(kAgents);
  int evaluated = 0;
  for (const auto& [id, reply] : replies) {
    ASSERT_FALSE(reply.failed) << reply.failed->message;
    evaluated += reply.started.prompt_tokens - reply.started.cached_tokens;
  }
  const int prompt = replies[1].started.prompt_tokens;
  EXPECT_LT(evaluated, prompt + kAgents * 16);
  for (const auto& [id, reply] : replies) {
    const auto message = ask(common + "Agent " + std::to_string(id) + " says:", 4);
    EXPECT_EQ(run(message, plan(0, 0)).reply.done.tokens.size(), reply.done.tokens.size());
  }
}

TEST_P(Prefix, APlanForARequestThatIsGoneGivesItsSlotsBack) {
  front_->send_plan(77, plan(0, 5));
  const auto blocks = wire::decode_blocks(front_->next(FrameType::kBlocks).payload);
  ASSERT_TRUE(blocks);
  EXPECT_TRUE(blocks->sizes.empty());
}

TEST_P(Prefix, UnloadingKeepsWhatWasNotCopiedYet) {
  const auto message = ask(story(36));
  const std::uint64_t id = ++last_;
  front_->send(FrameType::kGenerate, id, wire::encode(message));
  front_->next(FrameType::kTokenized);
  front_->send_plan(id, plan(0, 64));
  const Reply first = front_->collect(1)[id];
  front_->send(FrameType::kUnload, 0);
  const auto blocks = wire::decode_blocks(front_->next(FrameType::kBlocks).payload);
  ASSERT_TRUE(blocks);
  EXPECT_EQ(whole_of(*blocks), (first.done.prompt_tokens + 7) / kBlock);
  EXPECT_EQ(front_->next(FrameType::kUnloaded).type, FrameType::kUnloaded);
  front_->load();
  sizes_ = blocks->sizes;
  const Answered again = run(message, plan((first.done.prompt_tokens - 1) / kBlock, 0));
  EXPECT_EQ(again.reply.done.tokens, first.done.tokens);
}

// Whole micro-batches of the prompt only, and those give the same bits.
TEST_P(Prefix, ExactRepeatsUseWholeMicroBatches) {
  options_.exact = true;
  options_.threads = 2;
  start();
  const auto message = ask(story(80), 24);
  const Answered first = keep(message);
  const int prompt = first.reply.started.prompt_tokens;
  ASSERT_GT(prompt, 1100);
  const bool windowed = std::string{GetParam()} == engine::test::kGemma;
  const Answered live = run(message, plan(0, 0));
  start();
  const Answered restored = run(message, plan(std::min(first.kept, prompt / kBlock), 0));
  for (const Answered* again : {&live, &restored}) {
    EXPECT_EQ(again->cached(), windowed ? 0 : (prompt - 1) / 512 * 512);
    EXPECT_EQ(again->reply.done.tokens, first.reply.done.tokens);
    EXPECT_EQ(again->prefix().not_restorable.empty(), !windowed);
  }
}

TEST_P(Prefix, SaysWhereThePromptLeftAnEarlierOne) {
  wire::PrefixPlanMessage with = plan(0, 0);
  with.difference = wire::PrefixPlanMessage::Difference{3, 7};
  const Answered answered = run(ask(story(5)), with);
  const auto& difference = answered.prefix().difference;
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->position, 3);
  EXPECT_GT(difference->character, 3);
  EXPECT_FALSE(difference->has.empty());
  EXPECT_NE(difference->had, difference->has);
}

INSTANTIATE_TEST_SUITE_P(Both, Prefix, testing::Values(engine::test::kSmol, engine::test::kGemma),
                         [](const auto& test) { return std::string{test.param}.substr(0, 5); });

}  // namespace
}  // namespace hearth::worker
