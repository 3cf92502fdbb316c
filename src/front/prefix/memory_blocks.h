// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "base/pool.h"
#include "base/sync.h"
#include "front/prefix/arena.h"
#include "front/prefix/block_domain.h"
#include "front/prefix/digests.h"
#include "front/prefix/following_blocks.h"
#include "layers/prefix/block_tier.h"

namespace hearth::front {

// The blocks in memory: one arena for each model, one budget for all. What has been promised to
// requests that will write counts as much as what is there; what a request may be reading stays
// until it has let go.
//
// Belongs to the loop; pages are given back in the pool. close() before destroying it.
class MemoryBlocks {
 public:
  // An arena and who uses its slots.
  struct Room {
    std::string artifact;
    Arena arena;
    bool lent = false;            // a worker that lives has it
    std::map<int, int> readers;   // by slot
    std::map<int, Bytes> doomed;  // slots that are only there for their readers
    std::vector<int> leaving;     // to be given back
    bool giving_back = false;
  };
  struct Block {
    const BlockDomain* domain = nullptr;
    Room* room = nullptr;
    Digest parent{};
    std::uint32_t first = 0;
    int slot = 0;
    Bytes size;                    // of the record
    std::vector<int> tokens;       // fewer than blocks::kBlockTokens: a part
    std::size_t chain_blocks = 0;  // of its conversation, so far
    TimePoint last_reply{};        // of that
    std::string module;
    bool stays = false;   // for its module
    bool always = false;  // for that, or for a reader
  };
  // Keeps a slot's bytes as they are.
  struct Hold {
    Digest digest{};
    Room* room = nullptr;
    int slot = 0;
  };
  struct Reservation {
    Room* room = nullptr;
    std::vector<int> slots;
    Bytes bytes;
  };

  MemoryBlocks(EventLoop& loop, Pool& pool);
  Task<void> close() { return tasks_.close(); }

  void set_limit(Bytes limit);
  Bytes limit() const { return limit_; }

  // Makes the arena if there is none; null when it cannot be made.
  Room* make_room(const std::string& artifact);
  Room* room(const std::string& artifact);

  const Block* find(const Digest& digest) const;
  Block* find(const Digest& digest);
  // What follows `parent` in this room and begins like `text` for longest.
  std::optional<FollowingBlocks::Match> next(const Room& room, const Digest& parent,
                                             std::span<const int> text) const;
  std::vector<Digest> where(const std::function<bool(const Block&)>& chosen) const;
  int uses(const Digest& digest) const { return tier_.uses(digest); }
  void note_use(std::span<const Digest> chain) { tier_.note_use(chain); }

  Hold hold(const Digest& digest);
  void let_go(const Hold& hold);

  // As much as there is room for; others go for it, but none that somebody holds. `slots` and
  // `bytes` are the most that is wanted; `each` is what a block takes, zero where nobody knows.
  Reservation reserve(Room& room, std::size_t slots, Bytes bytes, Bytes each);
  // What of it was used must be passed to add() afterwards.
  void end(const Reservation& reservation);
  // The slot held nothing that is wanted.
  void free_slot(Room& room, int slot);

  // False when it was not taken in: then its slot is free. What has all its tokens already makes a
  // part superfluous; parts that it makes so itself go.
  bool add(const Digest& digest, Block block);
  void set_module(const Digest& digest, const std::string& module);
  // With all that follow it; the bytes.
  Bytes remove(const Digest& digest);

  // About what a block of this domain takes; zero: there was none.
  Bytes last_size(const Digest& root) const;

  // All that counts against the limit.
  Bytes used() const { return tier_.used() + reserved_ + doomed_; }
  Bytes held() const { return tier_.used(); }
  std::size_t blocks() const { return blocks_.size(); }
  std::uint64_t evicted() const { return evicted_; }

 private:
  void shrink();
  Bytes budget() const { return limit_ - reserved_ - doomed_; }
  void evict(const std::vector<Digest>& gone);
  Bytes erase(const Digest& digest);
  void settle_stay(const Digest& digest, Block& block);
  bool is_superfluous(const Block& block) const;
  void remove_parts(const std::vector<Digest>& parts, const std::string& module);
  void release(Room& room, int slot, Bytes bytes);
  void leave(Room& room, int slot);
  Task<void> give_back(Room* room);

  EventLoop& loop_;
  Pool& pool_;
  Gate tasks_;
  Bytes limit_;
  Bytes reserved_;
  Bytes doomed_;
  Bytes always_;  // of blocks that must not go
  BlockTier tier_{Bytes{}};
  DigestMap<Block> blocks_;
  FollowingBlocks following_;    // the same
  DigestMap<Bytes> last_sizes_;  // by root
  std::map<std::string, std::unique_ptr<Room>> rooms_;
  std::uint64_t evicted_ = 0;
  bool complained_ = false;
};

}  // namespace hearth::front
