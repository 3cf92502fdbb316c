// SPDX-License-Identifier: Apache-2.0
#include "worker/block_reader.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "worker/block_samples.h"

namespace hearth::worker {
namespace {

using Direction = BlockReader::Direction;
using Range = BlockReader::Range;
using test::StoredSample;

constexpr std::size_t kBase = 5000;
constexpr std::size_t kWindow = 3000;

struct Outcome {
  std::vector<int> blocks;  // in the order of their coming
  std::optional<BlockReader::Refused> refused;
};

// Waits for everything that comes.
template <class Each>
Outcome read_all(StoredSample& sample, Range range, Each each) {
  WorkQueue<int> progress;
  BlockReader reader{sample.arena(), sample.prefix(), range, [&] { progress.push(0); }};
  Outcome outcome;
  while (true) {
    while (auto block = reader.take()) {
      outcome.blocks.push_back(block->index);
      each(*block);
    }
    if (reader.finished()) break;
    (void)progress.pop();
  }
  outcome.refused = reader.refused();
  return outcome;
}

Outcome read_all(StoredSample& sample, Range range) {
  return read_all(sample, range, [](const BlockReader::Block&) {});
}

TEST(BlockReader, HandsOutWhatWasKept) {
  StoredSample sample{6, kBase, kWindow};
  for (const int i : {1, 2, 4}) sample.to_file(i);
  const Outcome outcome =
      read_all(sample, {0, 6, Direction::kFromFront, 4}, [](const BlockReader::Block& block) {
        const auto kept = test::sample_block(block.index, kBase, kWindow);
        const auto text = [](std::span<const std::byte> bytes) {
          return std::string{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
        };
        EXPECT_EQ(block.header.tokens, kept.tokens);
        EXPECT_EQ(text(block.base), kept.state.base);
        EXPECT_EQ(text(block.window), block.index < 4 ? "" : kept.state.window);
        EXPECT_EQ(block.base.data() + block.base.size(), block.window.data());
        EXPECT_EQ(block.tier == wire::BlockTier::kDisk,
                  block.index == 1 || block.index == 2 || block.index == 4);
      });
  EXPECT_EQ(outcome.blocks, (std::vector{0, 1, 2, 3, 4, 5}));
  EXPECT_FALSE(outcome.refused);
}

TEST(BlockReader, HandsOutARangeFromTheBack) {
  StoredSample sample{6, kBase, 0};
  for (const int i : {2, 3}) sample.to_file(i);
  EXPECT_EQ(read_all(sample, {1, 5, Direction::kFromBack, 0}).blocks, (std::vector{4, 3, 2, 1}));
  EXPECT_TRUE(read_all(sample, {3, 3, Direction::kFromBack, 0}).blocks.empty());
}

TEST(BlockReader, CountsWhatItReadWhere) {
  StoredSample sample{3, kBase, kWindow};
  sample.to_file(2);
  WorkQueue<int> progress;
  BlockReader reader{
      sample.arena(), sample.prefix(), {0, 3, Direction::kFromFront, 2}, [&] { progress.push(0); }};
  while (!reader.finished()) {
    if (!reader.take()) (void)progress.pop();
  }
  EXPECT_EQ(reader.read_from(wire::BlockTier::kArena), Bytes{2 * (blocks::kHeaderSize + kBase)});
  EXPECT_EQ(reader.read_from(wire::BlockTier::kDisk), Bytes{blocks::kHeaderSize + kBase + kWindow});
}

struct DamageCase {
  const char* name;
  std::function<void(StoredSample&, int)> damage;
  const char* reason;
};

class DamagedBlock : public testing::TestWithParam<DamageCase> {};

void cut(StoredSample& sample, int i, std::uint64_t size) {
  if (sample.block_at(i).tier == wire::BlockTier::kArena) sample.to_file(i);
  EXPECT_EQ(::ftruncate(sample.block_at(i).file.get(), static_cast<off_t>(size)), 0);
}

// Its record, and the size that the front tells, are right, but not of the tokens that are wanted.
void exchange(StoredSample& sample, int i, int with) { sample.block_at(i).slot = with; }

TEST_P(DamagedBlock, IsRefusedAndAllThatNeedIt) {
  const auto& [name, damage, reason] = GetParam();
  for (const bool on_disk : {false, true}) {
    StoredSample sample{6, kBase, kWindow};
    damage(sample, 3);
    if (on_disk && sample.block_at(3).tier == wire::BlockTier::kArena) sample.to_file(3);
    const Outcome front = read_all(sample, {0, 6, Direction::kFromFront, 0});
    EXPECT_EQ(front.blocks, (std::vector{0, 1, 2}));
    ASSERT_TRUE(front.refused);
    EXPECT_EQ(front.refused->index, 3);
    EXPECT_EQ(front.refused->reason, reason);
    const Outcome back = read_all(sample, {0, 6, Direction::kFromBack, 0});
    EXPECT_EQ(back.blocks, (std::vector{5, 4}));
    ASSERT_TRUE(back.refused);
    EXPECT_EQ(back.refused->reason, reason);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, DamagedBlock,
    testing::Values(
        DamageCase{"Magic", [](auto& s, int i) { s.flip(i, 0); }, "checksum"},
        DamageCase{"HeaderToken", [](auto& s, int i) { s.flip(i, 200); }, "checksum"},
        DamageCase{"HeaderEnd", [](auto& s, int i) { s.flip(i, 1023); }, "checksum"},
        DamageCase{"FirstByte", [](auto& s, int i) { s.flip(i, 1024); }, "checksum"},
        DamageCase{"LastOfBase", [](auto& s, int i) { s.flip(i, 1023 + kBase); }, "checksum"},
        DamageCase{"LastOfAll", [](auto& s, int i) { s.flip(i, 1023 + kBase + kWindow); },
                   "checksum"},
        DamageCase{"NoFile", [](auto& s, int i) { cut(s, i, 0); }, "short"},
        DamageCase{"HalfAHeader", [](auto& s, int i) { cut(s, i, 512); }, "short"},
        DamageCase{"HeaderOnly", [](auto& s, int i) { cut(s, i, 1024); }, "short"},
        DamageCase{"OneByteLess", [](auto& s, int i) { cut(s, i, 1023 + kBase + kWindow); },
                   "short"},
        DamageCase{"AnotherSize", [](auto& s, int i) { s.block_at(i).size = Bytes{4096}; },
                   "short"},
        DamageCase{"AnotherBlock", [](auto& s, int i) { exchange(s, i, 2); }, "tokens"}),
    [](const auto& test) { return test.param.name; });

TEST(BlockReader, RefusesWhatIsOfOtherTokensOrOfAnotherRoot) {
  StoredSample sample{4, kBase, 0};
  sample.prefix().tokens[100] = 4711;  // in block 1
  Outcome outcome = read_all(sample, {0, 4, Direction::kFromFront, 0});
  EXPECT_EQ(outcome.blocks, std::vector{0});
  EXPECT_EQ(outcome.refused->reason, "tokens");
  // Those of block 3 are as they should be, but what they follow is not.
  outcome = read_all(sample, {2, 4, Direction::kFromBack, 0});
  EXPECT_TRUE(outcome.blocks.empty());
  EXPECT_EQ(outcome.refused->index, 3);
  sample.prefix().tokens[100] = 100;
  sample.prefix().root.fill(8);
  EXPECT_EQ(read_all(sample, {0, 4, Direction::kFromFront, 0}).refused->reason, "tokens");
}

// A prompt that leaves block 3 after 20 tokens.
TEST(BlockReader, HandsOutABlockOfWhichOnlyTheBeginningIsWanted) {
  for (const bool on_disk : {false, true}) {
    StoredSample sample{4, kBase, kWindow};
    if (on_disk) sample.to_file(3);
    sample.prefix().tokens.resize(3 * 64 + 20);
    sample.prefix().tokens.push_back(4711);
    sample.block_at(3).tokens = 20;
    EXPECT_EQ(sample.prefix().covered(), 3 * 64 + 20);
    for (const Direction direction : {Direction::kFromFront, Direction::kFromBack}) {
      const Outcome outcome = read_all(sample, {2, 4, direction, 0});
      EXPECT_EQ(outcome.blocks.size(), 2U);
      EXPECT_FALSE(outcome.refused);
    }
    sample.block_at(3).tokens = 21;
    EXPECT_EQ(read_all(sample, {2, 4, Direction::kFromFront, 0}).refused->reason, "tokens");
    sample.block_at(3).tokens = 20;
    sample.prefix().tokens[2 * 64 + 5] = 4711;  // in the block before it
    EXPECT_EQ(read_all(sample, {3, 4, Direction::kFromFront, 0}).refused->reason, "tokens");
  }
}

TEST(BlockReader, SaysThatADescriptorIsBroken) {
  StoredSample sample{2, kBase, 0};
  sample.to_file(1);
  sample.block_at(1).file.reset();
  EXPECT_EQ(read_all(sample, {0, 2, Direction::kFromFront, 0}).refused->reason, "io");
}

TEST(BlockReader, FileThatShrinksMeanwhileIsShort) {
  constexpr int kCount = 40;
  constexpr std::size_t kLarge = std::size_t{4} << 20;  // 64 MiB are fewer than half of them
  StoredSample sample{kCount, kLarge, 0};
  for (int i = 0; i < kCount; ++i) sample.to_file(i);
  int taken = 0;
  const Outcome outcome =
      read_all(sample, {0, kCount, Direction::kFromFront, 0}, [&](const BlockReader::Block&) {
        if (taken++ == 0) cut(sample, kCount - 1, 1 << 20);
      });
  EXPECT_EQ(outcome.blocks.size(), static_cast<std::size_t>(kCount) - 1);
  ASSERT_TRUE(outcome.refused);
  EXPECT_EQ(outcome.refused->reason, "short");
}

TEST(BlockReader, StopsInTheMiddleAndBlocksOutliveIt) {
  StoredSample sample{40, std::size_t{4} << 20, 0};
  for (int i = 1; i < 40; i += 2) sample.to_file(i);
  std::optional<BlockReader::Block> block;
  {
    WorkQueue<int> progress;
    BlockReader reader{sample.arena(), sample.prefix(), {0, 40, Direction::kFromFront, 0}, [&] {
                         progress.push(0);
                       }};
    while (!(block = reader.take())) (void)progress.pop();
  }
  EXPECT_EQ(block->index, 0);
  EXPECT_EQ(blocks::checksum_of(block->base), block->header.base_checksum);
}

}  // namespace
}  // namespace hearth::worker
