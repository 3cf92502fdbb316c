// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/pool.h"
#include "base/sync.h"
#include "front/prefix/arena.h"
#include "front/prefix/block_catalogue.h"
#include "front/prefix/block_domain.h"
#include "front/prefix/block_files.h"
#include "front/prefix/following_blocks.h"
#include "layers/prefix/block_tier.h"
#include "layers/prefix/write_budget.h"

namespace hearth::front {

// The blocks on disk, one file each, within a budget of bytes and a day's budget of writes. Changes
// happen one after another; reading goes on beside them.
//
// Belongs to the loop; files are touched in the pool.
class DiskBlocks {
 public:
  struct World {
    EventLoop& loop;
    Pool& pool;
    const Files& files;
    const Clock& clock;
    std::string directory;
    DomainBook& book;
  };
  struct Block {
    const BlockDomain* domain = nullptr;
    Digest parent{};
    std::uint32_t first = 0;
    Bytes size;
    std::vector<int> tokens;  // fewer than blocks::kBlockTokens: a part
    std::int64_t used_us = 0;
    std::int64_t noted_us = 0;  // the use that its file and the catalogue know
    int hits = 0;
    std::string module;
    bool stays = false;  // for that
    bool written = false;
  };

  explicit DiskBlocks(World world);

  // Reads what there is and brings it within `limit`.
  Task<void> open(Bytes limit);
  // The installation's; empty: there is none, and nothing is written.
  const std::string& secret() const { return secret_; }

  // Only what is written.
  const Block* find(const Digest& digest) const;
  // What follows `parent` and begins like `text` for longest.
  std::optional<FollowingBlocks::Match> next(const Digest& parent, std::span<const int> text) const;
  void note_use(std::span<const Digest> chain);

  // Files of these blocks in their order, up to the first that cannot be opened; one that is no
  // more what it was is forgotten.
  Task<std::vector<Fd>> open_files(std::vector<Digest> blocks);

  struct Source {
    Digest digest{};
    Block block;
    const Arena* arena = nullptr;
    int slot = 0;
  };
  enum class Written {
    kYes,      // it is there now, or was before
    kNotNow,   // writing failed a short while ago, or there is no domain of it on disk
    kNoWorth,  // all that is there is worth more, or the budget is too small
    kNoSpace,
    kCorrupt,  // what is in memory is not that block
  };
  // Copies a block from memory, whose predecessor is here. The slot must be held meanwhile. Parts
  // that it makes superfluous go.
  Task<Written> write(Source source);
  // Of a block that is here; an empty name: it is of none.
  void set_module(const Digest& digest, const std::string& module);
  // Makes the last changes last.
  Task<void> flush();

  // With all that follow them; the bytes.
  Task<Bytes> remove_where(std::function<bool(const Digest&, const Block&)> chosen);
  Task<Bytes> set_limit(Bytes limit);

  bool allows_today(Bytes size, Bytes daily) const;
  Bytes written_today() const { return day_.written(world_.clock.wall_us()); }
  // Writes failed, and are not tried again just yet.
  bool is_paused() const { return world_.loop.now() < paused_until_; }

  const DigestMap<Block>& all() const { return blocks_; }
  Bytes used() const { return tier_.used(); }
  std::uint64_t evicted() const { return evicted_; }
  // What was found unusable at the start, by reason.
  const std::map<std::string, std::uint64_t>& refused() const { return refused_; }

 private:
  struct Start;
  // For as long as it lives nobody else changes files.
  class Turn {
   public:
    explicit Turn(DiskBlocks* disk) : disk_{disk} {}
    Turn(Turn&& other) noexcept : disk_{std::exchange(other.disk_, nullptr)} {}
    Turn& operator=(Turn&&) = delete;
    ~Turn() {
      if (disk_ == nullptr) return;
      disk_->busy_ = false;
      disk_->turn_.notify_all();
    }

   private:
    DiskBlocks* disk_;
  };
  struct Gone {
    Digest root{};
    Digest digest{};
  };

  Task<Turn> take_turn();
  Start read_all();
  void take_in(Start start, std::vector<Gone>& gone);
  void add_found(const BlockCatalogue::Row& row, std::vector<Gone>& gone);
  std::vector<Gone> forget(const std::vector<Digest>& digests, Bytes* bytes);
  std::vector<Gone> forget_parts(const std::vector<Digest>& parts, const std::string& module);
  Task<void> delete_files(std::vector<Gone> gone);
  BlockTier::Stay stay_of(Block& block);
  Written settle(const Source& source, const Result<>& saved);
  BlockCatalogue::Row row_of(const Digest& digest, const Block& block) const;

  World world_;
  BlockFiles files_;
  BlockCatalogue catalogue_;
  Notify turn_;
  bool busy_ = false;
  std::string secret_;
  Bytes limit_;
  Bytes staying_;  // of modules
  BlockTier tier_{Bytes{}};
  DigestMap<Block> blocks_;
  FollowingBlocks following_;  // of these, what is written
  WriteBudget day_;
  TimePoint paused_until_{};
  bool complained_ = false;
  std::uint64_t evicted_ = 0;
  std::map<std::string, std::uint64_t> refused_;
  // Not in the catalogue yet.
  std::set<Digest> changed_;
  std::set<Digest> removed_;
  std::set<Digest> roots_;  // with names that are not on the device yet
};

}  // namespace hearth::front
