// SPDX-License-Identifier: Apache-2.0
#include "worker/block_keeper.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <future>
#include <string>

#include "blocks/block_record.h"
#include "worker/block_samples.h"

namespace hearth::worker {
namespace {

using test::sample_block;

using Kept = BlockKeeper::Kept;

Result<blocks::Header> header_in(const Arena& arena, int slot) {
  std::vector<std::byte> bytes(blocks::kHeaderSize);
  if (auto read = arena.read(slot, 0, bytes); !read) return Failed{read.error()};
  return blocks::decode(bytes);
}

TEST(Arena, KeepsSlotsApartAndSaysWhereItEnds) {
  const Arena arena{test::empty_memory()};
  const std::string text = "of slot 2";
  ASSERT_TRUE(arena.write(2, 10, std::as_bytes(std::span{text})));
  std::string back(text.size(), ' ');
  ASSERT_TRUE(arena.read(2, 10, std::as_writable_bytes(std::span{back})));
  EXPECT_EQ(back, text);
  ASSERT_TRUE(arena.read(1, 10, std::as_writable_bytes(std::span{back})));
  EXPECT_EQ(back, std::string(text.size(), '\0'));
  const auto into = std::as_writable_bytes(std::span{back});
  EXPECT_EQ(arena.read(2, 11, into).error().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(arena.read(-1, 0, into).error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(arena.read(0, wire::kArenaPitch.count() - 1, into).error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(arena.write(0, ~std::uint64_t{0}, into).error().code(), ErrorCode::kInvalid);
}

TEST(Arena, SaysThatThereIsNoDescriptor) {
  const Arena arena{Fd{}};
  std::vector<std::byte> bytes(8);
  EXPECT_EQ(arena.read(0, 0, bytes).error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(arena.write(0, 0, bytes).error().code(), ErrorCode::kUnavailable);
}

TEST(BlockKeeper, WritesRecordsInTurnAndReportsThem) {
  const Arena arena{test::empty_memory()};
  WorkQueue<Kept> kept;
  BlockKeeper keeper{arena, [&](const Kept& block) { kept.push(block); }};
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(keeper.try_put(sample_block(i, 100, 50)));
  for (int i = 0; i < 8; ++i) {
    const auto block = kept.pop();
    EXPECT_EQ(block->id, static_cast<std::uint64_t>(i));
    ASSERT_TRUE(block->size);
    EXPECT_EQ(*block->size, Bytes{blocks::kHeaderSize + 150});
    const auto header = header_in(arena, i);
    ASSERT_TRUE(header);
    EXPECT_EQ(header->tokens, sample_block(i, 0, 0).tokens);
    EXPECT_EQ(header->record_size(), *block->size);
  }
}

TEST(BlockKeeper, WritesAPartToo) {
  const Arena arena{test::empty_memory()};
  WorkQueue<Kept> kept;
  BlockKeeper keeper{arena, [&](const Kept& block) { kept.push(block); }};
  auto job = sample_block(1, 100, 50);
  job.tokens.resize(9);
  ASSERT_TRUE(keeper.try_put(std::move(job)));
  ASSERT_TRUE(kept.pop()->size);
  const auto header = header_in(arena, 1);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->tokens.size(), 9U);
  EXPECT_EQ(header->digest, blocks::digest_of(header->parent, header->tokens));
}

TEST(BlockKeeper, RefusesWhatIsNoBlock) {
  const Arena arena{test::empty_memory()};
  WorkQueue<Kept> kept;
  BlockKeeper keeper{arena, [&](const Kept& block) { kept.push(block); }};
  auto job = sample_block(0, 100, 0);
  job.tokens.clear();
  ASSERT_TRUE(keeper.try_put(std::move(job)));
  EXPECT_EQ(kept.pop()->size.error().code(), ErrorCode::kInvalid);
}

TEST(BlockKeeper, HalfARecordIsNone) {
  Fd memory{::memfd_create("arena", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  const Fd same{::dup(memory.get())};
  const Arena arena{std::move(memory)};
  WorkQueue<Kept> kept;
  BlockKeeper keeper{arena, [&](const Kept& block) { kept.push(block); }};
  ASSERT_TRUE(keeper.try_put(sample_block(0, 100, 0)));
  ASSERT_TRUE(kept.pop()->size);
  // A larger one into the same slot, where there is no room for its end any more.
  ASSERT_EQ(::fcntl(same.get(), F_ADD_SEALS, F_SEAL_GROW), 0);
  ASSERT_TRUE(keeper.try_put(sample_block(0, 10000, 0)));
  EXPECT_FALSE(kept.pop()->size);
  EXPECT_FALSE(header_in(arena, 0));
}

TEST(BlockKeeper, WritesNothingWhileItIsPaused) {
  const Arena arena{test::empty_memory()};
  WorkQueue<Kept> kept;
  BlockKeeper keeper{arena, [&](const Kept& block) { kept.push(block); }};
  keeper.pause();
  ASSERT_TRUE(keeper.try_put(sample_block(0, std::size_t{3} << 20, 0)));
  ASSERT_TRUE(keeper.try_put(sample_block(1, 10000, 0)));
  EXPECT_EQ(keeper.unwritten(), 2U);
  EXPECT_FALSE(header_in(arena, 0));
  keeper.go_on();
  EXPECT_TRUE(kept.pop()->size);
  EXPECT_TRUE(kept.pop()->size);
  EXPECT_TRUE(header_in(arena, 0));
}

TEST(BlockKeeper, EndsAlsoWhileItIsPaused) {
  const Arena arena{test::empty_memory()};
  WorkQueue<Kept> kept;
  BlockKeeper keeper{arena, [&](const Kept& block) { kept.push(block); }};
  keeper.pause();
  ASSERT_TRUE(keeper.try_put(sample_block(0, 10000, 0)));
}

TEST(BlockKeeper, TakesNoMoreThanItMayQueueAndDropsTheRestAtItsEnd) {
  const Arena arena{test::empty_memory()};
  std::promise<void> began;
  std::promise<void> go_on;
  const std::shared_future<void> told = go_on.get_future().share();
  int reported = 0;
  {
    BlockKeeper keeper{arena, [&](const Kept&) {
                         if (reported++ == 0) began.set_value();
                         told.wait();
                       }};
    constexpr std::size_t kHalf = std::size_t{33} << 20;
    ASSERT_TRUE(keeper.try_put(sample_block(0, kHalf, 0)));
    began.get_future().wait();
    auto second = sample_block(1, kHalf, 0);
    EXPECT_FALSE(keeper.try_put(std::move(second)));
    EXPECT_EQ(second.state.base.size(), kHalf);  // still there
    EXPECT_TRUE(keeper.try_put(sample_block(2, kHalf / 2, 0)));
    EXPECT_GT(keeper.unwritten(), 0U);
    go_on.set_value();
  }
  EXPECT_LE(reported, 2);
  EXPECT_TRUE(header_in(arena, 0));
}

}  // namespace
}  // namespace hearth::worker
