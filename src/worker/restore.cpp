// SPDX-License-Identifier: Apache-2.0
#include "worker/restore.h"

#include <algorithm>
#include <span>
#include <utility>

#include "blocks/block_chain.h"

namespace hearth::worker {
namespace {

using engine::Token;
constexpr int kBlock = static_cast<int>(blocks::kBlockTokens);
// Held in memory while a prompt is evaluated from its other end.
constexpr std::size_t kMostHeld = std::size_t{256} << 20;

TimePoint now() { return Clock::real().now(); }

// The first block whose window's state later tokens look at; 0 for a model without one, whose
// records have nothing to be left out. What goes on from the last whole block's end can be
// evaluated too, should the block after it be refused.
int window_from(int tokens, int window) {
  if (window == 0) return 0;
  return std::max(0, tokens / kBlock * kBlock - window) / kBlock;
}

}  // namespace

void begin_reading(PrefixWork& work, int window, std::function<void()> on_progress) {
  const int last = static_cast<int>(work.stored.blocks.size());
  if (last == 0 || work.reader || work.both_ways) return;
  // The last token is evaluated in any case.
  const int tokens =
      std::min(work.stored.covered(), static_cast<int>(work.stored.tokens.size()) - 1);
  const BlockReader::Range range{0, last, BlockReader::Direction::kFromFront,
                                 window_from(tokens, window)};
  work.reader =
      std::make_unique<BlockReader>(work.arena.get(), work.stored, range, std::move(on_progress));
}

int Restore::Range::last() const { return (tokens + kBlock - 1) / kBlock; }

Restore::Restore(PrefixWork& work, Range range, std::function<void()> on_progress)
    : work_{work},
      range_{range},
      // With a window, what is evaluated at the front would move past what comes from the back.
      both_ways_{work.both_ways && range.window == 0},
      begin_{now()} {
  const int stored = static_cast<int>(work.stored.blocks.size());
  if (work.reader && range.first == 0 && range.last() == stored && !both_ways_) {
    reader_ = std::move(work.reader);
    return;
  }
  work.reader.reset();
  const auto direction =
      both_ways_ ? BlockReader::Direction::kFromBack : BlockReader::Direction::kFromFront;
  reader_ =
      std::make_unique<BlockReader>(work.arena.get(), work.stored,
                                    BlockReader::Range{range.first, range.last(), direction,
                                                       window_from(range.tokens, range.window)},
                                    std::move(on_progress));
}

int Restore::advance(KvRoom& room) {
  if (done_) return 0;
  if (forward()) return take_forward(room);
  take_backward(room.used(range_.slot));
  return room.used(range_.slot) >= evaluate_up_to() ? splice(room) : 0;
}

bool Restore::waiting(int evaluated) const {
  if (done_ || reader_->finished()) return false;
  return forward() || evaluated >= evaluate_up_to();
}

int Restore::evaluate_up_to() const {
  if (forward()) return 0;
  return held_.empty() ? range_.tokens : held_.back().index * kBlock;
}

int Restore::spare_cells() const { return done_ ? 0 : range_.last() * kBlock - range_.tokens; }

int Restore::take_forward(KvRoom& room) {
  const int before = room.used(range_.slot);
  while (auto block = reader_->take()) {
    if (load(room, *block)) continue;
    end();
    break;
  }
  if (!done_ && reader_->finished()) end();
  // What is there lacks the windows of the blocks that should have followed.
  const bool short_of_it = done_ && room.used(range_.slot) < range_.tokens / kBlock * kBlock;
  if (short_of_it && range_.window > 0) {
    lost_tokens_ = before;
    arena_tokens_ = disk_tokens_ = 0;
    room.clear(range_.slot);
  }
  return room.used(range_.slot) - before;
}

void Restore::take_backward(int evaluated) {
  while (!met_ && held_bytes_ < kMostHeld) {
    auto block = reader_->take();
    if (!block) break;
    met_ = block->index * kBlock < evaluated;
    if (met_) break;
    held_bytes_ += block->base.size();
    held_.push_back(std::move(*block));
  }
}

// The two ends have met: what is held follows what was evaluated.
int Restore::splice(KvRoom& room) {
  const int before = room.used(range_.slot);
  while (!held_.empty() && load(room, held_.back())) held_.pop_back();
  held_.clear();
  end();
  return room.used(range_.slot) - before;
}

bool Restore::load(KvRoom& room, const BlockReader::Block& block) {
  const int position = block.index * kBlock;
  const bool wants_window =
      range_.window > 0 && block.index >= window_from(range_.tokens, range_.window);
  if (wants_window && block.window.empty()) {
    refuse(block.index, "window");
    return false;
  }
  const int count = static_cast<int>(block.header.tokens.size());
  const Result<> loaded =
      room.context().load_block(range_.slot, position, count, block.base, block.window);
  if (!loaded) {
    // Where there is no room, nothing is wrong with the block.
    if (loaded.error().code() != ErrorCode::kNoSpace) refuse(block.index, "engine");
    return false;
  }
  const int wanted = std::min(count, range_.tokens - position);
  if (wanted < count && !cut(room, position + wanted)) return false;
  const auto prompt = std::span{work_.stored.tokens}.subspan(static_cast<std::size_t>(position));
  room.append(range_.slot, prompt.first(static_cast<std::size_t>(wanted)));
  (block.tier == wire::BlockTier::kArena ? arena_tokens_ : disk_tokens_) += wanted;
  return true;
}

// The cells of a block whose end is not the prompt's, and which the room does not know of yet.
bool Restore::cut(KvRoom& room, int count) {
  if (room.context().keep(range_.slot, count) == count) return true;
  lost_tokens_ = room.used(range_.slot);
  arena_tokens_ = disk_tokens_ = 0;
  room.clear(range_.slot);
  return false;
}

void Restore::refuse(int block, std::string reason) {
  refused_.push_back({block, std::move(reason)});
}

void Restore::end() {
  if (const auto refused = reader_->refused()) refuse(refused->index, refused->reason);
  done_ = true;
  end_ = now();
}

void Restore::tell(wire::PrefixOutcome& outcome) const {
  if (lost_tokens_ > 0) outcome.live = 0;
  outcome.arena += arena_tokens_;
  outcome.disk += disk_tokens_;
  outcome.arena_bytes += reader_->read_from(wire::BlockTier::kArena);
  outcome.disk_bytes += reader_->read_from(wire::BlockTier::kDisk);
  outcome.refused.insert(outcome.refused.end(), refused_.begin(), refused_.end());
}

Stage Restore::stage() const {
  const Bytes bytes =
      reader_->read_from(wire::BlockTier::kArena) + reader_->read_from(wire::BlockTier::kDisk);
  return {StageKind::kRestore, begin_, end_, bytes};
}

}  // namespace hearth::worker
