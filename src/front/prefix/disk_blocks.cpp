// SPDX-License-Identifier: Apache-2.0
#include "front/prefix/disk_blocks.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace hearth::front {
namespace {

constexpr std::chrono::minutes kPause{5};
constexpr std::int64_t kNoteEveryUs = std::int64_t{3600} * 1'000'000;

}  // namespace

DiskBlocks::DiskBlocks(World world)
    : world_{std::move(world)}, files_{world_.files, world_.directory}, turn_{world_.loop} {}

Task<DiskBlocks::Turn> DiskBlocks::take_turn() {
  while (busy_) co_await turn_.wait();
  busy_ = true;
  co_return Turn{this};
}

const DiskBlocks::Block* DiskBlocks::find(const Digest& digest) const {
  const auto found = blocks_.find(digest);
  return found == blocks_.end() || !found->second.written ? nullptr : &found->second;
}

std::optional<FollowingBlocks::Match> DiskBlocks::next(const Digest& parent,
                                                       std::span<const int> text) const {
  return following_.longest(parent, text, [](const Digest&) { return true; });
}

void DiskBlocks::note_use(std::span<const Digest> chain) {
  tier_.note_use(chain);
  const std::int64_t now_us = world_.clock.wall_us();
  for (const Digest& digest : chain) {
    const auto found = blocks_.find(digest);
    if (found == blocks_.end()) continue;
    found->second.used_us = now_us;
    ++found->second.hits;
    if (now_us - found->second.noted_us >= kNoteEveryUs) changed_.insert(digest);
  }
}

bool DiskBlocks::allows_today(Bytes size, Bytes daily) const {
  return day_.allows(size, daily, world_.clock.wall_us());
}

Task<std::vector<Fd>> DiskBlocks::open_files(std::vector<Digest> blocks) {
  std::vector<std::pair<Digest, Block>> wanted;
  for (const Digest& digest : blocks) {
    const Block* block = find(digest);
    if (block == nullptr) break;
    wanted.emplace_back(digest, *block);
  }
  auto job = [this, wanted] {
    std::vector<Result<Fd>> opened;
    for (const auto& [digest, block] : wanted) {
      opened.push_back(files_.open(block.domain->root, digest, block.size));
      if (!opened.back()) break;
    }
    return opened;
  };
  std::vector<Result<Fd>> opened = co_await world_.pool.run(world_.loop, std::move(job));
  std::vector<Fd> files;
  for (Result<Fd>& each : opened) {
    if (each) files.push_back(std::move(*each));
  }
  const bool cut = !opened.empty() && !opened.back();
  const ErrorCode code = cut ? opened.back().error().code() : ErrorCode::kUnavailable;
  if (code == ErrorCode::kNotFound || code == ErrorCode::kCorrupt) {
    const Digest bad = wanted[files.size()].first;
    auto chosen = [bad](const Digest& digest, const Block&) { return digest == bad; };
    (void)co_await remove_where(std::move(chosen));
  }
  co_return files;
}

// ---- writing ----

Task<DiskBlocks::Written> DiskBlocks::write(Source source) {
  const Turn turn = co_await take_turn();
  if (find(source.digest) != nullptr) co_return Written::kYes;
  if (secret_.empty() || source.block.domain->content.empty() || is_paused()) {
    co_return Written::kNotNow;
  }
  // Before it comes, so that it goes on from the end of what there is; their files go once it is
  // there.
  std::vector<Gone> parts = forget_parts(
      following_.covered(source.block.parent, source.block.tokens), source.block.module);
  const BlockTier::Stay stay = stay_of(source.block);
  blocks_[source.digest] = source.block;
  const std::vector<Digest> pushed =
      tier_.add(source.digest, source.block.parent, source.block.size, stay);
  evicted_ += pushed.size();
  const std::vector<Gone> gone = forget(pushed, nullptr);
  const bool taken = blocks_.contains(source.digest);
  if (taken) day_.note_written(source.block.size, world_.clock.wall_us());
  if (!taken) --evicted_;
  auto job = [this, source, gone, taken]() -> Result<> {
    for (const Gone& each : gone) (void)files_.remove(each.root, each.digest);
    if (!taken) return {};
    const auto record = source.arena->read(source.slot, source.block.size);
    if (!record) return Failed{record.error()};
    if (auto begun = files_.begin(*source.block.domain); !begun) return begun;
    return files_.save(source.block.domain->root, source.digest, *record);
  };
  const Result<> saved = co_await world_.pool.run(world_.loop, std::move(job));
  const Written written = taken ? settle(source, saved) : Written::kNoWorth;
  const auto is_free = [this](const Digest& part) { return blocks_.at(part).module.empty(); };
  const std::vector<Digest> surplus = following_.surplus(source.block.parent, is_free);
  for (const Gone& each : forget_parts(surplus, {})) parts.push_back(each);
  co_await delete_files(std::move(parts));
  co_return written;
}

// But those that stay for another module.
std::vector<DiskBlocks::Gone> DiskBlocks::forget_parts(const std::vector<Digest>& parts,
                                                       const std::string& module) {
  std::vector<Gone> gone;
  for (const Digest& part : parts) {
    const std::string& of = blocks_.at(part).module;
    if (!of.empty() && of != module) continue;
    for (const Gone& each : forget(tier_.remove(part), nullptr)) gone.push_back(each);
  }
  return gone;
}

// Modules must leave something for conversations.
BlockTier::Stay DiskBlocks::stay_of(Block& block) {
  block.stays = !block.module.empty() && (staying_ + block.size).count() <= limit_.count() / 2;
  if (block.stays) staying_ += block.size;
  return block.stays ? BlockTier::Stay::kAlways : BlockTier::Stay::kAsLongAsWorth;
}

void DiskBlocks::set_module(const Digest& digest, const std::string& module) {
  const auto found = blocks_.find(digest);
  if (found == blocks_.end() || found->second.module == module) return;
  Block& block = found->second;
  if (block.stays) staying_ = staying_ - block.size;
  block.module = module;
  tier_.set_stay(digest, stay_of(block));
  changed_.insert(digest);
}

DiskBlocks::Written DiskBlocks::settle(const Source& source, const Result<>& saved) {
  if (saved) {
    complained_ = false;
    blocks_[source.digest].written = true;
    following_.add(source.digest, source.block.parent, source.block.tokens);
    changed_.insert(source.digest);
    removed_.erase(source.digest);
    roots_.insert(source.block.domain->root);
    return Written::kYes;
  }
  (void)forget(tier_.remove(source.digest), nullptr);
  if (saved.error().code() == ErrorCode::kCorrupt) return Written::kCorrupt;
  paused_until_ = world_.loop.now() + kPause;
  if (!std::exchange(complained_, true)) {
    log::warn("prefix.not_written", {{"reason", saved.error().message()}});
  }
  return saved.error().code() == ErrorCode::kNoSpace ? Written::kNoSpace : Written::kNotNow;
}

Task<void> DiskBlocks::flush() {
  const Turn turn = co_await take_turn();
  if (changed_.empty() && removed_.empty() && roots_.empty()) co_return;
  BlockCatalogue::Change change;
  std::vector<Gone> used;
  for (const Digest& digest : std::exchange(changed_, {})) {
    const auto found = blocks_.find(digest);
    if (found == blocks_.end()) continue;
    Block& block = found->second;
    if (block.noted_us != block.used_us) used.push_back({block.domain->root, digest});
    block.noted_us = block.used_us;
    change.put.push_back(row_of(digest, block));
  }
  const std::set<Digest> removed = std::exchange(removed_, {});
  change.removed.assign(removed.begin(), removed.end());
  change.day = day_.state();
  std::set<Digest> roots = std::exchange(roots_, {});
  const std::int64_t now_us = world_.clock.wall_us();
  auto job = [this, change, used, roots, now_us] {
    for (const Gone& each : used) files_.note_use(each.root, each.digest, now_us);
    for (const Digest& root : roots) (void)files_.sync(root);
    catalogue_.note(change);
  };
  co_await world_.pool.run(world_.loop, std::move(job));
}

BlockCatalogue::Row DiskBlocks::row_of(const Digest& digest, const Block& block) const {
  return {digest,       block.domain->root, block.parent, block.first, block.size,
          block.tokens, block.used_us,      block.hits,   block.module};
}

// ---- removing ----

Task<Bytes> DiskBlocks::remove_where(std::function<bool(const Digest&, const Block&)> chosen) {
  const Turn turn = co_await take_turn();
  std::vector<Digest> digests;
  for (const auto& [digest, block] : blocks_) {
    if (chosen(digest, block)) digests.push_back(digest);
  }
  Bytes bytes;
  std::vector<Gone> gone;
  for (const Digest& digest : digests) {
    for (const Gone& each : forget(tier_.remove(digest), &bytes)) gone.push_back(each);
  }
  co_await delete_files(std::move(gone));
  co_return bytes;
}

Task<Bytes> DiskBlocks::set_limit(Bytes limit) {
  const Turn turn = co_await take_turn();
  Bytes bytes;
  if (limit == limit_) co_return bytes;
  limit_ = limit;
  const std::vector<Digest> pushed = tier_.set_budget(limit);
  evicted_ += pushed.size();
  std::vector<Gone> gone = forget(pushed, &bytes);
  co_await delete_files(std::move(gone));
  co_return bytes;
}

std::vector<DiskBlocks::Gone> DiskBlocks::forget(const std::vector<Digest>& digests, Bytes* bytes) {
  std::vector<Gone> gone;
  for (const Digest& digest : digests) {
    const auto found = blocks_.find(digest);
    if (found == blocks_.end()) continue;
    if (found->second.written) gone.push_back({found->second.domain->root, digest});
    if (bytes != nullptr) *bytes += found->second.size;
    if (found->second.stays) staying_ = staying_ - found->second.size;
    if (found->second.written) following_.remove(found->second.parent, found->second.tokens);
    blocks_.erase(found);
    changed_.erase(digest);
    removed_.insert(digest);
  }
  return gone;
}

Task<void> DiskBlocks::delete_files(std::vector<Gone> gone) {
  if (gone.empty()) co_return;
  auto job = [this, gone] {
    std::set<Digest> roots;
    for (const Gone& each : gone) {
      (void)files_.remove(each.root, each.digest);
      roots.insert(each.root);
    }
    for (const Digest& root : roots) files_.remove_empty(root);
  };
  co_await world_.pool.run(world_.loop, std::move(job));
}

}  // namespace hearth::front
