// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/sync.h"
#include "front/prefix/block_domain.h"
#include "front/prefix/disk_blocks.h"
#include "front/prefix/memory_blocks.h"
#include "front/prefix/prefix_room.h"
#include "front/prefix/seen_blocks.h"

namespace hearth::front {

// Bytes a second, of which the last counts most.
class MeasuredRate {
 public:
  void add(Bytes bytes, Duration time);
  // 0: not measured.
  double per_second() const { return per_second_; }
  // nullopt where nothing was measured.
  std::optional<double> seconds(Bytes bytes) const;

 private:
  double per_second_ = 0;
};

class PrefixRoom::State {
 public:
  explicit State(World world);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Task<void> open();
  Task<void> stop();
  std::optional<Fd> arena(const std::string& artifact);
  void worker_lost(const std::string& artifact);
  const BlockDomain* domain(const Use& use);
  bool learn_contents();
  Task<std::vector<wire::Frame>> plan(Ask ask);
  Found found(std::uint64_t request) const;
  void note_started(std::uint64_t request, const wire::StartedMessage& started);
  void note_replied(std::uint64_t request);
  void note_blocks(std::uint64_t request, const wire::BlocksMessage& blocks);
  void close(std::uint64_t request);
  Stored stored(const std::string& artifact) const;
  Figures figures() const;
  Kept kept(const Use& use, std::span<const int> tokens);
  Kept keep_module(const Use& use, std::span<const int> tokens, const std::string& module);
  void keep_modules(const std::function<bool(const std::string& module)>& stays);
  Task<Result<Bytes>> drop(Choice choice);
  Task<Result<Bytes>> spill(Choice choice);

 private:
  // What is stored of a text that was evaluated alone; see Ask::texts.
  struct Text {
    std::vector<int> tokens;  // of these blocks
    std::vector<Digest> chain;
    std::vector<wire::PrefixPlanMessage::Stored> stored;  // places of files once they are open
    std::vector<MemoryBlocks::Hold> holds;
    std::vector<Fd> files;  // until they are sent
  };
  // A stored block that a request may use.
  struct Offer {
    Digest digest{};
    wire::BlockTier tier = wire::BlockTier::kArena;
    Bytes size;
    int tokens = 0;  // of it that are the prompt's
  };
  // What one request was told, until it has ended.
  struct Plan {
    std::uint64_t serial = 0;
    const BlockDomain* domain = nullptr;
    Ask ask;
    std::vector<Digest> chain;
    // The first blocks of the chain; behind all that are stored, a part, or a block that the prompt
    // leaves.
    std::vector<Offer> offered;
    std::vector<Digest> parts;              // beside the chain, what was used or kept
    std::vector<MemoryBlocks::Hold> holds;  // of those in memory, in their order
    std::size_t stored = 0;                 // leading blocks that are somewhere
    std::vector<Text> texts;
    MemoryBlocks::Reservation keep;
    Bytes keep_limit;  // of it, for records alone
    bool started = false;
    bool replied = false;
    bool overtaken = false;  // then another request has started, and may have its cells
    bool trial = false;      // it is read from disk whatever was measured before
    bool both_ways = false;  // the worker may evaluate while it restores
    bool purged = false;     // what it will write is not wanted any more
    EventLoop::TimerId expiry = 0;
  };
  // Why blocks are being written.
  enum class Occasion { kQuiet, kStop, kSpill };

  // room_plan.cpp
  Task<void> wait_for_blocks(const Ask& ask);
  int coming(const Ask& ask);
  Plan& begin(Ask ask);
  void look_up(Plan& plan);
  std::optional<Offer> offer_of(const Plan& plan, const Digest& digest) const;
  std::optional<Offer> end_of(const Plan& plan);
  std::size_t worth_reading(const Plan& plan) const;
  Miss miss_of(const Plan& plan, std::size_t seen) const;
  void offer_only(Plan& plan, std::size_t blocks);
  void reserve(Plan& plan);
  Bytes size_of_block(const Plan& plan) const;
  bool both_ways(const Plan& plan) const;
  std::vector<wire::Frame> frames_of(Plan& plan, std::vector<Fd> files) const;
  std::vector<Digest> disk_part(const Plan& plan) const;
  Plan* plan_of(std::uint64_t request, std::uint64_t serial);
  std::vector<Digest> plain_chain(std::span<const int> tokens) const;
  static SeenBlocks::Who who(const BlockDomain& domain);

  // room_texts.cpp
  void look_up_texts(Plan& plan);
  Text text_of(const Plan& plan, std::span<const int> tokens);
  Task<void> open_text_files(std::uint64_t request, std::uint64_t serial);
  static void cut(Text& text, std::size_t blocks);
  static void add_texts(Plan& plan, wire::PrefixPlanMessage& message, std::vector<Fd>& descriptors);

  // room_notes.cpp
  void let_go(Plan& plan);
  void end(std::uint64_t request);
  void refuse(Plan& plan, const std::vector<wire::PrefixOutcome::Refused>& refused);
  void measure(const Plan& plan, const wire::StartedMessage& started);
  void note_prompt_seen(const Plan& plan, const wire::PrefixOutcome& outcome);
  void note_seen(const Plan& plan, std::span<const int> tokens, const std::vector<Digest>& chain);
  std::size_t index(Plan& plan, const MemoryBlocks::Reservation& keep,
                    const wire::BlocksMessage& blocks);
  void take_in(Plan& plan, MemoryBlocks::Block block);
  void set_last_reply(const Plan& plan, TimePoint when);
  Task<void> forget_on_disk(Digest digest);

  // room_writing.cpp
  void schedule(TimePoint when);
  Task<void> write_now(Occasion occasion);
  Task<DiskBlocks::Written> write_block(Digest digest, Occasion occasion);
  std::vector<Digest> candidates(const Choice& choice) const;
  bool is_wanted(const Digest& digest, const MemoryBlocks::Block& block, Occasion occasion) const;
  std::set<const BlockDomain*> domains_of(const Choice& choice) const;
  bool is_busy() const;
  void schedule_next();
  Bytes give_memory_back(const std::vector<Digest>& blocks);
  void schedule_upkeep();
  Task<void> upkeep();

  World world_;
  Limits limits() const { return world_.limits(); }
  std::string own_secret_;  // until there is one on disk
  bool open_ = false;
  DomainBook book_;
  MemoryBlocks memory_;
  DiskBlocks disk_;
  SeenBlocks seen_;
  std::map<std::uint64_t, Plan> plans_;
  Notify plan_ended_;
  std::map<std::uint64_t, Found> found_;  // of the last requests, also of those that have ended
  std::uint64_t serial_ = 0;
  Gate tasks_;
  EventLoop::TimerId writing_at_ = 0;
  TimePoint writing_due_{};
  bool writing_ = false;
  int postponed_ = 0;
  EventLoop::TimerId upkeep_at_ = 0;

  MeasuredRate memory_rate_;
  MeasuredRate disk_rate_;
  Figures counted_;
  std::map<std::string, std::uint64_t> refused_;
};

}  // namespace hearth::front
