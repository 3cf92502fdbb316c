// SPDX-License-Identifier: Apache-2.0
// Prompt state beyond live cells: kept in an arena, restored from there and from files.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
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
using wire::Frame;
using wire::FrameType;

constexpr int kBlock = static_cast<int>(blocks::kBlockTokens);
const std::string kDomain(64, 'a');
const std::string kOtherDomain(64, 'b');

// A text that does not repeat itself. The lengths below leave less than 64 tokens after a
// micro-batch and after the last whole block alike: then what is restored and what is not are the
// same computations, and the replies the same to the last token.
std::string story(int lines, const std::string& hero = "miller") {
  std::string text;
  for (int i = 0; i < lines; ++i) {
    text += "On day " + std::to_string(i * 37 % 101) + " the " + hero + " found " +
            std::to_string(i * i % 89) + " coins.\n";
  }
  return text;
}

// What a front keeps for one model, with the bookkeeping in its simplest form.
class Prefix : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    path_ = engine::test::model_path(GetParam()).value_or("");
    if (path_.empty()) GTEST_SKIP() << "no model";
    options_.context_limit = 2048;
    options_.parallel = 2;
    arena_ = Fd{::memfd_create("arena", MFD_CLOEXEC)};
    ASSERT_TRUE(arena_);
    start();
  }

  // A new worker over the same arena.
  void start() {
    front_ = std::make_unique<TestFront>();
    front_->open(path_, options_);
    front_->send_file(FrameType::kArena, "{}", arena_);
    front_->load();
  }

  wire::GenerateMessage ask(const std::string& prompt, int tokens = 8) const {
    wire::GenerateMessage message = greedy(prompt, tokens);
    message.domain = kDomain;
    message.plan_prefix = true;
    message.return_tokens = true;
    message.ignore_eos = true;
    return message;
  }

  struct Answered {
    Reply reply;
    wire::BlocksMessage blocks;
    int kept = 0;
    int cached() const { return reply.started.cached_tokens; }
    const wire::PrefixOutcome& prefix() const { return reply.started.prefix; }
  };

  // `stored`: block i lies in the arena's slot i. `keep`: slots for the blocks after those.
  wire::PrefixPlanMessage plan(int stored, int keep) const {
    wire::PrefixPlanMessage message;
    for (int i = 0; i < stored; ++i) {
      message.stored.push_back({BlockTier::kArena, i, sizes_.at(static_cast<std::size_t>(i))});
    }
    message.keep_from = stored;
    for (int i = 0; i < keep; ++i) message.keep.push_back(stored + i);
    message.keep_limit = Bytes{std::uint64_t{1} << 30};
    return message;
  }

  Answered run(const wire::GenerateMessage& message, const wire::PrefixPlanMessage& plan,
               std::vector<Fd> files = {}) {
    const std::uint64_t id = ++last_;
    front_->send(FrameType::kGenerate, id, wire::encode(message));
    front_->next(FrameType::kTokenized);
    front_->send_plan(id, plan, std::move(files));
    Answered answered;
    answered.reply = front_->collect(1)[id];
    if (plan.keep.empty()) return answered;
    auto blocks = wire::decode_blocks(front_->next(FrameType::kBlocks).payload);
    EXPECT_TRUE(blocks);
    if (blocks) answered.blocks = *blocks;
    answered.kept = static_cast<int>(answered.blocks.sizes.size());
    return answered;
  }

  // Runs it with nothing stored and 64 slots, and notes what was kept.
  Answered keep(const wire::GenerateMessage& message) {
    sizes_.clear();
    Answered first = run(message, plan(0, 64));
    sizes_ = first.blocks.sizes;
    return first;
  }

  // A record as a file of its own, as the disk has it.
  Fd file_of(int slot) const {
    Fd file{::memfd_create("record", MFD_CLOEXEC)};
    const Bytes size = sizes_.at(static_cast<std::size_t>(slot));
    std::string bytes(size.count(), '\0');
    const auto at = static_cast<off_t>(wire::kArenaPitch.count() * static_cast<unsigned>(slot));
    EXPECT_EQ(::pread(arena_.get(), bytes.data(), bytes.size(), at),
              static_cast<ssize_t>(bytes.size()));
    EXPECT_EQ(::write(file.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    return file;
  }

  void flip(int slot, std::uint64_t offset) const {
    char byte = 0;
    const auto at =
        static_cast<off_t>(wire::kArenaPitch.count() * static_cast<unsigned>(slot) + offset);
    ASSERT_EQ(::pread(arena_.get(), &byte, 1, at), 1);
    byte = static_cast<char>(byte ^ 0x10);
    ASSERT_EQ(::pwrite(arena_.get(), &byte, 1, at), 1);
  }

  std::string path_;
  wire::LoadOptions options_;
  Fd arena_;
  std::unique_ptr<TestFront> front_;
  std::vector<Bytes> sizes_;  // of the records in slots 0, 1, ...
  std::uint64_t last_ = 0;
};

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
  EXPECT_EQ(static_cast<int>(blocks->sizes.size()), (replies[1].done.prompt_tokens + 1) / kBlock)
      << blocks->reason;
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
  EXPECT_EQ(static_cast<int>(blocks->sizes.size()), (first.done.prompt_tokens + 7) / kBlock);
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
