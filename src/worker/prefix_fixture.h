// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "blocks/block_chain.h"
#include "engine/test_models.h"
#include "worker/test_front.h"

namespace hearth::worker::test {

using wire::BlockTier;
using wire::Frame;
using wire::FrameType;

inline constexpr int kBlock = static_cast<int>(blocks::kBlockTokens);
inline const std::string kDomain(64, 'a');
inline const std::string kOtherDomain(64, 'b');

// A text that does not repeat itself. The lengths below leave less than 64 tokens after a
// micro-batch and after the last whole block alike: then what is restored and what is not are the
// same computations, and the replies the same to the last token.
inline std::string story(int lines, const std::string& hero = "miller") {
  std::string text;
  for (int i = 0; i < lines; ++i) {
    text += "On day " + std::to_string(i * 37 % 101) + " the " + hero + " found " +
            std::to_string(i * i % 89) + " coins.\n";
  }
  return text;
}

// What a front keeps for one model, with the bookkeeping in its simplest form.
class PrefixFixture : public testing::TestWithParam<const char*> {
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
    std::vector<int> prompt;
    wire::BlocksMessage blocks;
    int kept = 0;  // whole blocks
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
    const auto tokenized = wire::decode_tokenized(front_->next(FrameType::kTokenized).payload);
    EXPECT_TRUE(tokenized);
    front_->send_plan(id, plan, std::move(files));
    Answered answered;
    if (tokenized) answered.prompt = tokenized->tokens;
    answered.reply = front_->collect(1)[id];
    if (plan.keep.empty()) return answered;
    auto blocks = wire::decode_blocks(front_->next(FrameType::kBlocks).payload);
    EXPECT_TRUE(blocks);
    if (blocks) answered.blocks = *blocks;
    answered.kept = whole_of(answered.blocks);
    return answered;
  }

  static int whole_of(const wire::BlocksMessage& blocks) {
    return static_cast<int>(blocks.sizes.size()) - (blocks.part > 0 ? 1 : 0);
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

}  // namespace hearth::worker::test
