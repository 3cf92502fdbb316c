// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/sha256.h"
#include "blocks/block_record.h"
#include "worker/arena.h"
#include "worker/buffer_pool.h"
#include "worker/stored_prefix.h"

namespace hearth::worker {

// Reads stored blocks of a prompt on threads of its own (one for the arena, two for files) and
// hands them out in order, each checked in full: its header, the chain of names from the root, its
// tokens one by one, sizes and checksums. At most 64 MiB wait to be taken.
//
// take(), refused() and finished() belong to one thread.
class BlockReader {
 public:
  enum class Direction { kFromFront, kFromBack };
  struct Range {
    int first = 0;  // blocks first .. last-1 of the prefix
    int last = 0;
    Direction direction = Direction::kFromFront;
    // The bytes of layers with a window are read for this block and those after it only.
    int window_from = 0;
  };
  // A block that is what it says. Gives its memory back to the reader, which it may outlive.
  class Block {
   public:
    Block(int index, std::shared_ptr<BufferPool> pool, BufferPool::Buffer buffer);
    Block(Block&& other) noexcept = default;
    Block& operator=(Block&& other) noexcept = default;
    ~Block();

    int index = 0;
    wire::BlockTier tier = wire::BlockTier::kArena;
    blocks::Header header;
    // Into memory of this object's.
    std::span<const std::byte> base;
    std::span<const std::byte> window;  // empty: it has none, or was not asked for

   private:
    friend class BlockReader;
    std::shared_ptr<BufferPool> pool_;  // also the reader's and other blocks'
    BufferPool::Buffer buffer_;
  };
  struct Refused {
    int index = 0;
    std::string reason;  // "checksum", "tokens", "short", "io"
  };

  // Begins to read. `arena` (null: no block lies there) and `prefix` outlive this object.
  // `on_progress` is called on a reading thread, never on two at once, whenever take(), refused()
  // or finished() may have something new to say; it may not destroy the reader.
  BlockReader(const Arena* arena, const StoredPrefix& prefix, Range range,
              std::function<void()> on_progress);
  ~BlockReader();  // breaks off, within the time of one read
  BlockReader(const BlockReader&) = delete;
  BlockReader& operator=(const BlockReader&) = delete;

  // The next block of the range in its direction; nullopt: not read yet, or finished().
  std::optional<Block> take();

  // Nothing more will be handed out: the range is at its end, or a block was refused that all
  // others after it in this direction depend on.
  bool finished() const;

  // What ended it early; nothing, or one block.
  std::optional<Refused> refused() const;

  // So far, headers included, whether taken or not.
  Bytes read_from(wire::BlockTier tier) const;

 private:
  struct Lane {
    std::deque<int> places;   // of the range, in its direction, that nobody reads yet
    std::size_t advised = 0;  // so many of them the kernel was told of
  };
  struct Claim {
    int place = 0;
    std::vector<int> advise;  // places of files that will be read soon
  };

  void run(Lane& lane);
  std::optional<Claim> claim(Lane& lane);
  std::vector<int> files_ahead(Lane& lane) const;
  void put(int place, tl::expected<Block, std::string> read);
  int index_at(int place) const;
  const StoredPrefix::Block& stored_at(int place) const;
  bool wants_window(int index) const;
  std::uint64_t wanted_of(int index) const;
  tl::expected<Block, std::string> read(int index);
  Result<> read_bytes(const StoredPrefix::Block& block, std::uint64_t offset,
                      std::span<std::byte> into);
  Result<> read_arena(int slot, std::uint64_t offset, std::span<std::byte> into) const;
  bool is_wanted(const blocks::Header& header, int index) const;

  const Arena* arena_;
  const StoredPrefix& prefix_;
  const Range range_;
  const std::function<void()> on_progress_;
  std::shared_ptr<BufferPool> pool_;  // also the blocks'
  std::once_flag named_;
  std::vector<Digest> names_;
  std::array<std::atomic<std::uint64_t>, 2> read_{};
  std::atomic<std::uint64_t> base_size_{0};  // of the last header
  std::atomic<bool> stop_{false};
  std::mutex telling_;        // of on_progress_
  mutable std::mutex mutex_;  // of all below
  std::condition_variable room_;
  std::array<Lane, 2> lanes_;
  std::map<int, Block> ready_;  // by place
  int next_ = 0;                // place that is taken next
  int end_ = 0;                 // places before it may still come
  std::size_t waiting_ = 0;     // bytes, read or being read, that have not been taken
  std::optional<Refused> refused_;
  std::vector<std::jthread> threads_;
};

}  // namespace hearth::worker
