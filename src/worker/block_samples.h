// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/temporary_directory.h"
#include "blocks/block_chain.h"
#include "worker/arena.h"
#include "worker/block_keeper.h"
#include "worker/block_reader.h"
#include "worker/work_queue.h"

// Stored blocks of a prompt that no model has seen, for tests.
namespace hearth::worker::test {

inline Fd empty_memory() { return Fd{::memfd_create("arena", MFD_CLOEXEC)}; }

// Block i of the prompt 0, 1, 2, ...: bytes that tell it from others.
inline BlockKeeper::Job sample_block(int i, std::size_t base, std::size_t window) {
  BlockKeeper::Job job;
  job.id = static_cast<std::uint64_t>(i);
  job.slot = i;
  job.root.fill(7);
  job.first = static_cast<std::uint32_t>(i) * blocks::kBlockTokens;
  std::vector<engine::Token> tokens(job.first + blocks::kBlockTokens);
  std::iota(tokens.begin(), tokens.end(), 0);
  const auto names = blocks::chain_of(job.root, tokens);
  job.parent = i == 0 ? job.root : names[static_cast<std::size_t>(i) - 1];
  job.tokens.assign(tokens.end() - blocks::kBlockTokens, tokens.end());
  job.state.base.assign(base, static_cast<char>('a' + i % 26));
  job.state.window.assign(window, static_cast<char>('A' + i % 26));
  return job;
}

// Blocks that a keeper has written into an arena.
class StoredSample {
 public:
  StoredSample(int count, std::size_t base, std::size_t window) {
    Fd memory = empty_memory();
    memory_ = Fd{::dup(memory.get())};
    arena_.emplace(std::move(memory));
    prefix_.tokens.resize(static_cast<std::size_t>(count) * blocks::kBlockTokens + 1);
    std::iota(prefix_.tokens.begin(), prefix_.tokens.end(), 0);
    prefix_.root.fill(7);
    WorkQueue<BlockKeeper::Kept> kept;
    BlockKeeper keeper{*arena_, [&](const BlockKeeper::Kept& block) { kept.push(block); }};
    for (int i = 0; i < count; ++i) {
      EXPECT_TRUE(keeper.try_put(sample_block(i, base, window)));
      const auto block = kept.pop();
      EXPECT_TRUE(block->size) << block->size.error().message();
      prefix_.blocks.push_back({wire::BlockTier::kArena, i, Fd{}, *block->size});
    }
  }

  // Moves a block from the arena into a file of its own.
  void to_file(int i) {
    StoredPrefix::Block& block = block_at(i);
    std::vector<std::byte> record(block.size.count());
    EXPECT_TRUE(arena_->read(block.slot, 0, record));
    const std::string path = directory_ / std::to_string(i);
    block.file = Fd{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
    EXPECT_EQ(::write(block.file.get(), record.data(), record.size()),
              static_cast<ssize_t>(record.size()));
    block.tier = wire::BlockTier::kDisk;
  }
  void flip(int i, std::uint64_t offset) {
    const StoredPrefix::Block& block = block_at(i);
    const bool on_disk = block.tier == wire::BlockTier::kDisk;
    const int fd = on_disk ? block.file.get() : memory_.get();
    const auto at = static_cast<off_t>(
        offset + (on_disk ? 0 : static_cast<std::uint64_t>(i) * wire::kArenaPitch.count()));
    char byte = 0;
    EXPECT_EQ(::pread(fd, &byte, 1, at), 1);
    byte = static_cast<char>(byte ^ 1);
    EXPECT_EQ(::pwrite(fd, &byte, 1, at), 1);
  }

  StoredPrefix& prefix() { return prefix_; }
  const Arena* arena() const { return &*arena_; }
  StoredPrefix::Block& block_at(int i) { return prefix_.blocks[static_cast<std::size_t>(i)]; }
  int count() const { return static_cast<int>(prefix_.blocks.size()); }

 private:
  TemporaryDirectory directory_;
  Fd memory_;
  std::optional<Arena> arena_;
  StoredPrefix prefix_;
};

}  // namespace hearth::worker::test
