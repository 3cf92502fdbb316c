// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "front/prefix/prefix_room_state.h"
#include "layers/prefix/disk_admission.h"

namespace hearth::front {
namespace {

constexpr std::chrono::seconds kUntilHashed{
    10};  // between looks whether a new model's hash is there

constexpr std::chrono::seconds kPostpone{1};
constexpr int kMostPostponed = 60;
constexpr std::chrono::seconds kMostAtStop{5};
constexpr std::chrono::hours kUpkeepEvery{1};

}  // namespace

// ---- when ----

// At the earliest of all times asked for.
void PrefixRoom::State::schedule(TimePoint when) {
  if (tasks_.closed()) return;
  if (writing_at_ != 0 && writing_due_ <= when) return;
  if (writing_at_ != 0) world_.loop.cancel(writing_at_);
  writing_due_ = when;
  writing_at_ = world_.loop.call_at(when, [this] {
    writing_at_ = 0;
    world_.loop.spawn(write_now(Occasion::kQuiet));
  });
}

// A request that waits for its first token has the disk and the processors for itself.
bool PrefixRoom::State::is_busy() const {
  return std::ranges::any_of(plans_, [](const auto& each) { return !each.second.started; });
}

void PrefixRoom::State::schedule_next() {
  std::optional<TimePoint> next;
  for (const Digest& digest : candidates({})) {
    const TimePoint last = memory_.find(digest)->last_reply;
    if (last == TimePoint::max()) continue;
    const TimePoint quiet = last + std::chrono::seconds{limits().quiet_s};
    if (quiet > world_.loop.now() && (!next || quiet < *next)) next = quiet;
  }
  if (next) schedule(*next);
}

// ---- what ----

std::set<const BlockDomain*> PrefixRoom::State::domains_of(const Choice& choice) const {
  const auto content = choice.artifact.empty() ? std::nullopt : world_.content(choice.artifact);
  return book_.where([&](const BlockDomain& domain) {
    if (choice.group && *choice.group != domain.group) return false;
    return choice.artifact.empty() || choice.artifact == domain.artifact ||
           (content && *content == domain.content);
  });
}

// In memory only, and could be on disk: those to be written first come first, each after its
// predecessor.
std::vector<Digest> PrefixRoom::State::candidates(const Choice& choice) const {
  const auto domains = domains_of(choice);
  std::vector<Digest> blocks = memory_.where([&](const MemoryBlocks::Block& block) {
    return !block.domain->content.empty() && domains.contains(block.domain);
  });
  std::erase_if(blocks, [&](const Digest& each) { return disk_.find(each) != nullptr; });
  std::ranges::sort(blocks, {}, [&](const Digest& digest) {
    const MemoryBlocks::Block& block = *memory_.find(digest);
    return std::tuple{block.module.empty(), memory_.uses(digest) == 0, block.first};
  });
  return blocks;
}

bool PrefixRoom::State::is_wanted(const Digest& digest, const MemoryBlocks::Block& block,
                                  Occasion occasion) const {
  if (occasion == Occasion::kSpill) return true;
  const Limits now = limits();
  DiskCandidate candidate;
  candidate.chain_blocks = block.chain_blocks;
  candidate.uses = memory_.uses(digest);
  if (!block.module.empty()) candidate.kind = DiskCandidate::Kind::kModule;
  candidate.last_reply = occasion == Occasion::kStop ? TimePoint{} : block.last_reply;
  if (!disk_.allows_today(block.size, now.daily)) candidate.budget = DiskCandidate::Budget::kSpent;
  return disk_admission(candidate, world_.loop.now(), now.quiet_s) == DiskAdmission::kWrite;
}

Task<void> PrefixRoom::State::write_now(Occasion occasion) {
  const auto pass = tasks_.enter();
  const bool may = pass || occasion == Occasion::kStop;
  if (!may || !open_ || writing_ || limits().disk == Bytes{}) co_return;
  writing_ = true;
  const bool all_known = learn_contents();
  (void)co_await disk_.set_limit(limits().disk);
  const TimePoint stop_by = world_.loop.now() + kMostAtStop;
  bool interrupted = false;
  for (const Digest& digest : candidates({})) {
    interrupted = occasion == Occasion::kQuiet && is_busy() && postponed_ < kMostPostponed;
    const bool late = occasion == Occasion::kStop ? world_.loop.now() >= stop_by : tasks_.closed();
    if (interrupted || late || disk_.is_paused()) break;
    (void)co_await write_block(digest, occasion);
  }
  co_await disk_.flush();
  writing_ = false;
  postponed_ = interrupted ? postponed_ + 1 : 0;
  if (interrupted) {
    schedule(world_.loop.now() + kPostpone);
  } else {
    schedule_next();
    if (!all_known) schedule(world_.loop.now() + kUntilHashed);
  }
}

Task<DiskBlocks::Written> PrefixRoom::State::write_block(Digest digest, Occasion occasion) {
  const MemoryBlocks::Block* block = memory_.find(digest);
  auto written = DiskBlocks::Written::kNotNow;
  if (block == nullptr || !is_wanted(digest, *block, occasion)) co_return written;
  if (block->first > 0 && disk_.find(block->parent) == nullptr) co_return written;
  DiskBlocks::Source source;
  source.digest = digest;
  source.block.domain = block->domain;
  source.block.parent = block->parent;
  source.block.first = block->first;
  source.block.size = block->size;
  source.block.tokens = block->tokens;
  source.block.used_us = source.block.noted_us = world_.clock.wall_us();
  source.block.hits = memory_.uses(digest);
  source.block.module = block->module;
  source.arena = &block->room->arena;
  source.slot = block->slot;
  const MemoryBlocks::Hold hold = memory_.hold(digest);
  written = co_await disk_.write(std::move(source));
  memory_.let_go(hold);
  if (written == DiskBlocks::Written::kCorrupt) {
    ++refused_["checksum"];
    memory_.remove(digest);
  }
  co_return written;
}

// ---- on demand ----

Task<Result<Bytes>> PrefixRoom::State::spill(Choice choice) {
  const auto pass = tasks_.enter();
  if (!pass) co_return fail(ErrorCode::kCancelled, "stopping");
  bool full = limits().disk == Bytes{};
  const std::vector<Digest> wanted = candidates(choice);
  full = full && !wanted.empty();
  for (const Digest& digest : wanted) {
    if (full || tasks_.closed()) break;
    const DiskBlocks::Written written = co_await write_block(digest, Occasion::kSpill);
    full = written == DiskBlocks::Written::kNoSpace || written == DiskBlocks::Written::kNoWorth ||
           (written == DiskBlocks::Written::kNotNow && disk_.is_paused());
  }
  co_await disk_.flush();
  if (tasks_.closed()) co_return fail(ErrorCode::kCancelled, "stopping");
  const auto domains = domains_of(choice);
  const Bytes bytes = give_memory_back(memory_.where(
      [&](const MemoryBlocks::Block& block) { return domains.contains(block.domain); }));
  if (full) co_return fail(ErrorCode::kNoSpace, "the disk or its budget has no room for all of it");
  co_return bytes;
}

// Of what is on disk, and is not followed by what is not.
Bytes PrefixRoom::State::give_memory_back(const std::vector<Digest>& blocks) {
  std::vector<Digest> last_first = blocks;
  std::ranges::sort(last_first, std::greater{},
                    [&](const Digest& digest) { return memory_.find(digest)->first; });
  Bytes bytes;
  std::set<Digest> needed;
  for (const Digest& digest : last_first) {
    const MemoryBlocks::Block& block = *memory_.find(digest);
    const bool held = block.room->readers.contains(block.slot);
    if (held || needed.contains(digest) || disk_.find(digest) == nullptr) {
      needed.insert(block.parent);
    } else {
      bytes += memory_.remove(digest);
    }
  }
  return bytes;
}

Task<Result<Bytes>> PrefixRoom::State::drop(Choice choice) {
  const auto pass = tasks_.enter();
  if (!pass) co_return fail(ErrorCode::kCancelled, "stopping");
  const auto domains = domains_of(choice);
  for (auto& [request, plan] : plans_) plan.purged |= domains.contains(plan.domain);
  Bytes bytes;
  const auto chosen = memory_.where(
      [&](const MemoryBlocks::Block& block) { return domains.contains(block.domain); });
  for (const Digest& digest : chosen) bytes += memory_.remove(digest);
  if (choice.artifact.empty() && !choice.group) seen_.clear();
  auto on_disk = [domains](const Digest&, const DiskBlocks::Block& block) {
    return domains.contains(block.domain);
  };
  bytes += co_await disk_.remove_where(std::move(on_disk));
  co_await disk_.flush();
  co_return bytes;
}

// ---- upkeep ----

void PrefixRoom::State::schedule_upkeep() {
  if (tasks_.closed()) return;
  upkeep_at_ = world_.loop.call_at(world_.loop.now() + kUpkeepEvery, [this] {
    upkeep_at_ = 0;
    schedule_upkeep();
    world_.loop.spawn(upkeep());
  });
}

// Brings memory and disk within limits that may have changed, and forgets what nobody used.
Task<void> PrefixRoom::State::upkeep() {
  const auto pass = tasks_.enter();
  if (!pass) co_return;
  const Limits now = limits();
  memory_.set_limit(now.memory);
  (void)co_await disk_.set_limit(now.disk);
  const TimePoint before = world_.loop.now() - now.days * std::chrono::hours{24};
  const auto forgotten = memory_.where(
      [before](const MemoryBlocks::Block& block) { return block.last_reply < before; });
  for (const Digest& digest : forgotten) memory_.remove(digest);
  const std::int64_t day_us = std::int64_t{86'400} * 1'000'000;
  const std::int64_t oldest = world_.clock.wall_us() - now.days * day_us;
  auto old = [oldest](const Digest&, const DiskBlocks::Block& block) {
    return block.used_us < oldest;
  };
  (void)co_await disk_.remove_where(std::move(old));
  co_await disk_.flush();
  co_await write_now(Occasion::kQuiet);
}

}  // namespace hearth::front
