// SPDX-License-Identifier: Apache-2.0
#include "front/prefix/prefix_room.h"

#include <array>
#include <utility>

#include "base/log.h"
#include "base/secure_random.h"
#include "blocks/block_chain.h"
#include "front/prefix/prefix_room_state.h"

namespace hearth::front {

// ---- the door ----

PrefixRoom::PrefixRoom(World world) : state_{std::make_unique<State>(std::move(world))} {}
PrefixRoom::~PrefixRoom() = default;

Task<void> PrefixRoom::open() { return state_->open(); }
Task<void> PrefixRoom::stop() { return state_->stop(); }
std::optional<Fd> PrefixRoom::arena(const std::string& artifact) { return state_->arena(artifact); }
void PrefixRoom::worker_lost(const std::string& artifact) { state_->worker_lost(artifact); }
std::string PrefixRoom::domain(const Use& use) const { return hex_of(state_->domain(use)->root); }
Task<std::vector<wire::Frame>> PrefixRoom::plan(Ask ask) { return state_->plan(std::move(ask)); }
PrefixRoom::Found PrefixRoom::found(std::uint64_t request) const { return state_->found(request); }
void PrefixRoom::note_started(std::uint64_t request, const wire::StartedMessage& started) {
  state_->note_started(request, started);
}
void PrefixRoom::note_replied(std::uint64_t request) { state_->note_replied(request); }
void PrefixRoom::note_blocks(std::uint64_t request, const wire::BlocksMessage& blocks) {
  state_->note_blocks(request, blocks);
}
void PrefixRoom::close(std::uint64_t request) { state_->close(request); }
PrefixRoom::Stored PrefixRoom::stored(const std::string& artifact) const {
  return state_->stored(artifact);
}
PrefixRoom::Figures PrefixRoom::figures() const { return state_->figures(); }
Task<Result<Bytes>> PrefixRoom::drop(Choice choice) { return state_->drop(std::move(choice)); }
Task<Result<Bytes>> PrefixRoom::spill(Choice choice) { return state_->spill(std::move(choice)); }

// ---- beginning and end ----

PrefixRoom::State::State(World world)
    : world_{std::move(world)},
      memory_{world_.loop, world_.pool},
      disk_{{world_.loop, world_.pool, world_.files, world_.clock, world_.directory, book_}},
      plan_ended_{world_.loop},
      tasks_{world_.loop} {
  std::array<unsigned char, 32> secret{};
  (void)SecureRandom::kernel().fill(secret);
  own_secret_ = hex_of(secret);
  memory_.set_limit(limits().memory);
}

PrefixRoom::State::~State() {
  if (writing_at_ != 0) world_.loop.cancel(writing_at_);
  if (upkeep_at_ != 0) world_.loop.cancel(upkeep_at_);
  for (const auto& [request, plan] : plans_) {
    if (plan.expiry != 0) world_.loop.cancel(plan.expiry);
  }
}

Task<void> PrefixRoom::State::open() {
  const auto pass = tasks_.enter();
  if (!pass || open_) co_return;
  co_await disk_.open(limits().disk);
  open_ = true;
  schedule_upkeep();
  co_await upkeep();
}

Task<void> PrefixRoom::State::stop() {
  if (tasks_.closed()) co_return;
  if (writing_at_ != 0) world_.loop.cancel(std::exchange(writing_at_, 0));
  if (upkeep_at_ != 0) world_.loop.cancel(std::exchange(upkeep_at_, 0));
  co_await tasks_.close();
  co_await write_now(Occasion::kStop);
  co_await disk_.flush();
  while (!plans_.empty()) end(plans_.begin()->first);
  co_await memory_.close();
}

// ---- one model's worker ----

std::optional<Fd> PrefixRoom::State::arena(const std::string& artifact) {
  memory_.set_limit(limits().memory);
  MemoryBlocks::Room* room = memory_.room(artifact);
  if (room == nullptr && memory_.limit() > Bytes{}) room = memory_.make_room(artifact);
  if (room == nullptr) return std::nullopt;
  Result<Fd> shared = room->arena.share();
  room->lent = shared.has_value();
  if (shared) return std::move(*shared);
  log::warn("prefix.no_memory", {{"reason", shared.error().message()}});
  return std::nullopt;
}

void PrefixRoom::State::worker_lost(const std::string& artifact) {
  if (MemoryBlocks::Room* room = memory_.room(artifact)) room->lent = false;
  std::vector<std::uint64_t> requests;
  for (const auto& [request, plan] : plans_) {
    if (plan.ask.use.artifact == artifact) requests.push_back(request);
  }
  for (const std::uint64_t request : requests) end(request);
}

const BlockDomain* PrefixRoom::State::domain(const Use& use) {
  learn_contents();
  const std::optional<std::string> content = world_.content(use.artifact);
  const bool durable = content && !disk_.secret().empty();
  BlockDomain domain;
  domain.artifact = use.artifact;
  domain.content = durable ? *content : std::string{};
  domain.group = use.group;
  domain.fingerprint = fingerprint_of(use, durable ? content : std::nullopt);
  if (const BlockDomain* known = book_.find(domain.fingerprint, domain.group)) return known;
  domain.root = root_of(domain, disk_.secret().empty() ? own_secret_ : disk_.secret());
  return book_.add(std::move(domain));
}

// A model that was new has been hashed meanwhile: what was kept of it before may be kept longer.
// What was named while there was no secret yet could not be told from somebody else's.
bool PrefixRoom::State::learn_contents() {
  bool all = true;
  if (disk_.secret().empty()) return false;
  for (const BlockDomain* domain :
       book_.where([](const BlockDomain& each) { return each.content.empty(); })) {
    const std::optional<std::string> content = world_.content(domain->artifact);
    all = all && content.has_value();
    if (content && root_of(*domain, disk_.secret()) == domain->root) {
      book_.learn(domain->root, *content);
    }
  }
  return all;
}

// ---- for people ----

PrefixRoom::Stored PrefixRoom::State::stored(const std::string& artifact) const {
  const auto domains = domains_of({artifact, std::nullopt});
  Stored stored;
  const auto tokens = [](const auto& block) { return static_cast<int>(block.tokens.size()); };
  for (const Digest& digest : memory_.where([](const auto&) { return true; })) {
    const MemoryBlocks::Block& block = *memory_.find(digest);
    if (!domains.contains(block.domain)) continue;
    stored.tokens_memory += tokens(block);
    stored.memory += block.size;
  }
  for (const auto& [digest, block] : disk_.all()) {
    if (!block.written || !domains.contains(block.domain)) continue;
    stored.tokens_disk += tokens(block);
    stored.disk += block.size;
  }
  return stored;
}

PrefixRoom::Figures PrefixRoom::State::figures() const {
  const Limits now = limits();
  Figures figures = counted_;
  figures.memory = memory_.held();
  figures.memory_limit = now.memory;
  figures.disk = disk_.used();
  figures.disk_limit = now.disk;
  figures.written_today = disk_.written_today();
  figures.daily_limit = now.daily;
  figures.blocks_memory = static_cast<int>(memory_.blocks());
  figures.blocks_disk = static_cast<int>(disk_.all().size());
  figures.evicted_memory = memory_.evicted();
  figures.evicted_disk = disk_.evicted();
  figures.restore_memory_rate = memory_rate_.per_second();
  figures.restore_disk_rate = disk_rate_.per_second();
  std::map<std::string, std::uint64_t> refused = disk_.refused();
  for (const auto& [reason, count] : refused_) refused[reason] += count;
  figures.refused.assign(refused.begin(), refused.end());
  return figures;
}

}  // namespace hearth::front
