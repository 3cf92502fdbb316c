// SPDX-License-Identifier: Apache-2.0
#include "front/prefix/memory_blocks.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "blocks/block_chain.h"
#include "wire/prefix_messages.h"

namespace hearth::front {
namespace {

constexpr std::uint64_t kPage = 4096;

Bytes pages_of(Bytes size) { return Bytes{(size.count() + kPage - 1) / kPage * kPage}; }

}  // namespace

MemoryBlocks::MemoryBlocks(EventLoop& loop, Pool& pool) : loop_{loop}, pool_{pool}, tasks_{loop} {}

void MemoryBlocks::set_limit(Bytes limit) {
  if (limit == limit_) return;
  limit_ = limit;
  shrink();
}

void MemoryBlocks::shrink() { evict(tier_.set_budget(budget())); }

MemoryBlocks::Room* MemoryBlocks::make_room(const std::string& artifact) {
  if (Room* known = room(artifact)) return known;
  Result<Arena> arena = Arena::create("hearth-prefix");
  if (!arena) {
    if (!std::exchange(complained_, true)) {
      log::warn("prefix.no_memory", {{"reason", arena.error().message()}});
    }
    return nullptr;
  }
  auto made = std::make_unique<Room>(Room{artifact, std::move(*arena), false, {}, {}, {}, false});
  return (rooms_[artifact] = std::move(made)).get();
}

MemoryBlocks::Room* MemoryBlocks::room(const std::string& artifact) {
  const auto found = rooms_.find(artifact);
  return found == rooms_.end() ? nullptr : found->second.get();
}

const MemoryBlocks::Block* MemoryBlocks::find(const Digest& digest) const {
  const auto found = blocks_.find(digest);
  return found == blocks_.end() ? nullptr : &found->second;
}

MemoryBlocks::Block* MemoryBlocks::find(const Digest& digest) {
  return const_cast<Block*>(std::as_const(*this).find(digest));
}

std::optional<FollowingBlocks::Match> MemoryBlocks::next(const Room& room, const Digest& parent,
                                                         std::span<const int> text) const {
  const auto here = [&](const Digest& digest) { return find(digest)->room == &room; };
  return following_.longest(parent, text, here);
}

std::vector<Digest> MemoryBlocks::where(const std::function<bool(const Block&)>& chosen) const {
  std::vector<Digest> digests;
  for (const auto& [digest, block] : blocks_) {
    if (chosen(block)) digests.push_back(digest);
  }
  return digests;
}

Bytes MemoryBlocks::last_size(const Digest& root) const {
  const auto found = last_sizes_.find(root);
  return found == last_sizes_.end() ? Bytes{} : found->second;
}

// ---- readers ----

MemoryBlocks::Hold MemoryBlocks::hold(const Digest& digest) {
  Block& block = *find(digest);
  ++block.room->readers[block.slot];
  settle_stay(digest, block);
  return {digest, block.room, block.slot};
}

void MemoryBlocks::let_go(const Hold& hold) {
  Room& room = *hold.room;
  const auto readers = room.readers.find(hold.slot);
  if (readers == room.readers.end() || --readers->second > 0) return;
  room.readers.erase(readers);
  Block* block = find(hold.digest);
  if (block != nullptr && block->room == &room && block->slot == hold.slot) {
    settle_stay(hold.digest, *block);
    return;
  }
  const auto doomed = room.doomed.find(hold.slot);
  if (doomed == room.doomed.end()) return;
  doomed_ = doomed_ - doomed->second;
  room.doomed.erase(doomed);
  leave(room, hold.slot);
  shrink();
}

void MemoryBlocks::settle_stay(const Digest& digest, Block& block) {
  const bool always = block.stays || block.room->readers.contains(block.slot);
  if (always == block.always) return;
  block.always = always;
  always_ = always ? always_ + pages_of(block.size) : always_ - pages_of(block.size);
  tier_.set_stay(digest, always ? BlockTier::Stay::kAlways : BlockTier::Stay::kAsLongAsWorth);
}

void MemoryBlocks::set_module(const Digest& digest, const std::string& module) {
  Block* block = find(digest);
  if (block == nullptr) return;
  block->module = module;
  // Modules must leave something for conversations.
  const Bytes more = block->always ? Bytes{} : pages_of(block->size);
  block->stays = !module.empty() && (always_ + more).count() <= limit_.count() / 2;
  settle_stay(digest, *block);
}

// ---- writers ----

MemoryBlocks::Reservation MemoryBlocks::reserve(Room& room, std::size_t slots, Bytes bytes,
                                                Bytes each) {
  Reservation reservation;
  reservation.room = &room;
  reservation.bytes = std::min(bytes, budget() - always_);
  reserved_ += reservation.bytes;
  shrink();
  // What precedes a block that must not go cannot go either.
  const Bytes over = std::min(used() - limit_, reservation.bytes);
  reservation.bytes = reservation.bytes - over;
  reserved_ = reserved_ - over;
  if (each > Bytes{}) {
    slots = std::min<std::size_t>(slots, reservation.bytes.count() / pages_of(each).count());
  }
  while (reservation.slots.size() < slots && reservation.bytes > Bytes{}) {
    const std::optional<int> slot = room.arena.take();
    if (!slot) break;
    reservation.slots.push_back(*slot);
  }
  if (reservation.slots.empty()) reserved_ = reserved_ - std::exchange(reservation.bytes, {});
  return reservation;
}

void MemoryBlocks::end(const Reservation& reservation) {
  reserved_ = reserved_ - reservation.bytes;
  shrink();
}

void MemoryBlocks::free_slot(Room& room, int slot) { release(room, slot, {}); }

// What belongs to a module stays for that, whatever else there is.
bool MemoryBlocks::is_superfluous(const Block& block) const {
  const auto longer = next(*block.room, block.parent, block.tokens);
  return longer && longer->tokens == block.tokens.size() &&
         (block.module.empty() || find(longer->block)->module == block.module);
}

void MemoryBlocks::remove_parts(const std::vector<Digest>& parts, const std::string& module) {
  for (const Digest& part : parts) {
    const Block* block = find(part);
    if (block != nullptr && (block->module.empty() || block->module == module)) remove(part);
  }
}

bool MemoryBlocks::add(const Digest& digest, Block block) {
  if (blocks_.contains(digest) || is_superfluous(block)) {
    free_slot(*block.room, block.slot);
    return false;
  }
  // Records of one domain differ: the largest of the last whole ones counts.
  if (block.tokens.size() == blocks::kBlockTokens) {
    Bytes& last = last_sizes_[block.domain->root];
    last = std::max(block.size, Bytes{last.count() / 8 * 7});
  }
  const std::string module = std::exchange(block.module, {});
  // Before it comes, so that it goes on from the end of what there is.
  remove_parts(following_.covered(block.parent, block.tokens), module);
  const Bytes size = pages_of(block.size);
  const Digest parent = block.parent;
  following_.add(digest, parent, block.tokens);
  blocks_.emplace(digest, std::move(block));
  evict(tier_.add(digest, parent, size, BlockTier::Stay::kAsLongAsWorth));
  if (!module.empty()) set_module(digest, module);
  const auto is_free = [this](const Digest& part) { return find(part)->module.empty(); };
  remove_parts(following_.surplus(parent, is_free), {});
  return blocks_.contains(digest);
}

Bytes MemoryBlocks::remove(const Digest& digest) {
  Bytes sum;
  for (const Digest& gone : tier_.remove(digest)) sum += erase(gone);
  shrink();
  return sum;
}

void MemoryBlocks::evict(const std::vector<Digest>& gone) {
  evicted_ += gone.size();
  for (const Digest& digest : gone) erase(digest);
}

Bytes MemoryBlocks::erase(const Digest& digest) {
  const auto found = blocks_.find(digest);
  if (found == blocks_.end()) return {};
  const Block block = std::move(found->second);
  blocks_.erase(found);
  following_.remove(block.parent, block.tokens);
  if (block.always) always_ = always_ - pages_of(block.size);
  release(*block.room, block.slot, pages_of(block.size));
  return block.size;
}

// ---- slots ----

void MemoryBlocks::release(Room& room, int slot, Bytes bytes) {
  if (!room.readers.contains(slot)) return leave(room, slot);
  room.doomed[slot] = bytes;
  doomed_ += bytes;
}

void MemoryBlocks::leave(Room& room, int slot) {
  room.leaving.push_back(slot);
  if (!std::exchange(room.giving_back, true)) loop_.spawn(give_back(&room));
}

Task<void> MemoryBlocks::give_back(Room* room) {
  const auto pass = tasks_.enter();
  while (pass && !room->leaving.empty()) {
    std::vector<int> slots = std::exchange(room->leaving, {});
    auto job = [room, slots] {
      for (const int slot : slots) room->arena.punch(slot);
    };
    co_await pool_.run(loop_, std::move(job));
    for (const int slot : slots) room->arena.give_back(slot);
  }
  room->giving_back = false;
}

}  // namespace hearth::front
