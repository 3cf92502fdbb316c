// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <utility>

#include "base/log.h"
#include "blocks/block_chain.h"
#include "front/prefix/prefix_room_state.h"

namespace hearth::front {
namespace {

constexpr double kNewest = 0.3;                   // of a rate, what was measured last
constexpr std::chrono::minutes kLatestBlocks{2};  // after a request ended without a reply

std::size_t whole_blocks(std::size_t tokens) { return tokens / blocks::kBlockTokens; }

}  // namespace

void MeasuredRate::add(Bytes bytes, Duration time) {
  const double seconds = std::chrono::duration<double>(time).count();
  if (seconds <= 0 || bytes == Bytes{}) return;
  const double now = static_cast<double>(bytes.count()) / seconds;
  per_second_ = per_second_ > 0 ? (1 - kNewest) * per_second_ + kNewest * now : now;
}

std::optional<double> MeasuredRate::seconds(Bytes bytes) const {
  if (per_second_ <= 0) return std::nullopt;
  return static_cast<double>(bytes.count()) / per_second_;
}

PrefixRoom::Found PrefixRoom::State::found(std::uint64_t request) const {
  const auto found = found_.find(request);
  return found == found_.end() ? Found{} : found->second;
}

// ---- the reply has begun ----

void PrefixRoom::State::note_started(std::uint64_t request, const wire::StartedMessage& started) {
  const auto found = plans_.find(request);
  if (found == plans_.end() || found->second.started) return;
  Plan& plan = found->second;
  plan.started = true;
  for (auto& [other, earlier] : plans_) {
    const bool same = earlier.ask.use.artifact == plan.ask.use.artifact;
    if (same && earlier.replied) earlier.overtaken = true;
  }
  let_go(plan);
  measure(plan, started);
  note_prompt_seen(plan, started.prefix);
  refuse(plan, started.prefix.refused);
  if (!plan.ask.module.empty()) {
    for (const Digest& digest : plan.chain) memory_.set_module(digest, plan.ask.module);
  }
  if (plan.keep.slots.empty()) end(request);
}

void PrefixRoom::State::let_go(Plan& plan) {
  for (const MemoryBlocks::Hold& hold : std::exchange(plan.holds, {})) memory_.let_go(hold);
  for (const Text& text : std::exchange(plan.texts, {})) {
    for (const MemoryBlocks::Hold& hold : text.holds) memory_.let_go(hold);
  }
}

void PrefixRoom::State::measure(const Plan& plan, const wire::StartedMessage& started) {
  const wire::PrefixOutcome& outcome = started.prefix;
  Duration restoring{};
  for (const Stage& stage : started.stages) {
    if (stage.kind == StageKind::kRestore) restoring += stage.length();
  }
  // What is read while the prompt is evaluated takes a time that says nothing of a tier.
  const bool tells = outcome.shifted == 0 && !plan.both_ways;
  if (tells && outcome.disk_bytes == Bytes{}) memory_rate_.add(outcome.arena_bytes, restoring);
  if (tells && outcome.arena_bytes == Bytes{}) disk_rate_.add(outcome.disk_bytes, restoring);
  const int hit = std::clamp(outcome.live + outcome.arena + outcome.disk + outcome.shifted, 0,
                             static_cast<int>(plan.ask.tokens.size()));
  counted_.hit_tokens += static_cast<std::uint64_t>(hit);
  counted_.missed_tokens += plan.ask.tokens.size() - static_cast<std::size_t>(hit);
  const double rate = world_.prefill_rate(plan.ask.use.artifact);
  if (rate <= 0) return;
  const double saved = hit / rate - std::chrono::duration<double>(restoring).count();
  counted_.saved_seconds += std::max(0.0, saved);
}

// Behind a text that was moved nothing is kept, so that nothing of it can be evicted later.
void PrefixRoom::State::note_prompt_seen(const Plan& plan, const wire::PrefixOutcome& outcome) {
  const int exact = std::max(outcome.live + outcome.arena + outcome.disk, 0);
  const std::size_t tokens =
      outcome.shifted == 0 ? plan.ask.tokens.size() : static_cast<std::size_t>(exact);
  const std::size_t blocks =
      std::min(whole_blocks(std::min(tokens, plan.ask.tokens.size())), plan.chain.size());
  const std::vector<Digest> chain{plan.chain.begin(),
                                  plan.chain.begin() + static_cast<std::ptrdiff_t>(blocks)};
  note_seen(plan, std::span{plan.ask.tokens}.first(blocks * blocks::kBlockTokens), chain);
}

void PrefixRoom::State::note_seen(const Plan& plan, std::span<const int> tokens,
                                  const std::vector<Digest>& chain) {
  const bool known = seen_.leading(chain) == chain.size();
  const std::vector<Digest> plain = known ? std::vector<Digest>{} : plain_chain(tokens);
  seen_.note(chain, plain, who(*plan.domain));
}

// A refused block takes those that follow it along: nobody could get to them.
void PrefixRoom::State::refuse(Plan& plan,
                               const std::vector<wire::PrefixOutcome::Refused>& refused) {
  for (const wire::PrefixOutcome::Refused& each : refused) {
    const auto index = static_cast<std::size_t>(std::max(each.block, 0));
    if (each.block < 0 || index >= plan.offered.size()) continue;
    ++refused_[each.reason];
    log::warn("prefix.refused", {{"block", each.block}, {"reason", each.reason}});
    if (plan.offered[index].tier == wire::BlockTier::kArena) {
      memory_.remove(plan.offered[index].digest);
    } else {
      world_.loop.spawn(forget_on_disk(plan.offered[index].digest));
    }
  }
}

Task<void> PrefixRoom::State::forget_on_disk(Digest digest) {
  const auto pass = tasks_.enter();
  if (!pass) co_return;
  auto chosen = [digest](const Digest& each, const DiskBlocks::Block&) { return each == digest; };
  (void)co_await disk_.remove_where(std::move(chosen));
}

// ---- it has ended ----

void PrefixRoom::State::note_replied(std::uint64_t request) {
  const auto found = plans_.find(request);
  if (found != plans_.end()) found->second.replied = true;
}

// The request may not have read yet that its reply has begun: then its plan stays for that.
void PrefixRoom::State::note_blocks(std::uint64_t request, const wire::BlocksMessage& blocks) {
  const auto found = plans_.find(request);
  if (found == plans_.end()) return;
  Plan& plan = found->second;
  let_go(plan);
  const MemoryBlocks::Reservation keep = std::exchange(plan.keep, {});
  if (keep.room == nullptr) return end(request);
  memory_.end(keep);
  const std::size_t used = plan.purged ? 0 : index(plan, keep, blocks);
  for (std::size_t i = used; i < keep.slots.size(); ++i) {
    memory_.free_slot(*keep.room, keep.slots[i]);
  }
  if (plan.started) end(request);
}

// How many slots memory_ has taken charge of.
std::size_t PrefixRoom::State::index(Plan& plan, const MemoryBlocks::Reservation& keep,
                                     const wire::BlocksMessage& blocks) {
  std::vector<int> tokens = plan.ask.tokens;
  tokens.insert(tokens.end(), blocks.generated.begin(), blocks.generated.end());
  plan.chain = blocks::chain_of(plan.domain->root, tokens);
  Bytes sum;
  for (const Bytes size : blocks.sizes) sum += std::min(size, wire::kArenaPitch);
  const auto part = static_cast<std::size_t>(std::max(blocks.part, 0));
  const std::size_t whole = blocks.sizes.size() - (part > 0 && !blocks.sizes.empty() ? 1 : 0);
  const std::size_t evaluated = plan.stored + whole;  // whole blocks
  const bool believable = blocks.sizes.size() <= keep.slots.size() && sum <= plan.keep_limit &&
                          part < blocks::kBlockTokens &&
                          evaluated * blocks::kBlockTokens + part <= tokens.size();
  if (!believable) {
    ++refused_["report"];
    log::warn("prefix.refused", {{"reason", "a report of more than was asked for"}});
    return 0;
  }
  for (std::size_t i = 0; i < blocks.sizes.size(); ++i) {
    const std::size_t at = plan.stored + i;
    const Digest& parent = at == 0 ? plan.domain->root : plan.chain[at - 1];
    if (at > 0 && memory_.find(parent) == nullptr && disk_.find(parent) == nullptr) return i;
    if (blocks.sizes[i] == Bytes{}) {  // it came with another request's report
      memory_.free_slot(*keep.room, keep.slots[i]);
      continue;
    }
    const std::size_t first = at * blocks::kBlockTokens;
    const auto own = std::span{tokens}.subspan(first, i < whole ? blocks::kBlockTokens : part);
    MemoryBlocks::Block block;
    block.room = keep.room;
    block.parent = parent;
    block.first = static_cast<std::uint32_t>(first);
    block.tokens.assign(own.begin(), own.end());
    block.slot = keep.slots[i];
    block.size = blocks.sizes[i];
    take_in(plan, std::move(block));
  }
  const std::vector<Digest> chain{plan.chain.begin(),
                                  plan.chain.begin() + static_cast<std::ptrdiff_t>(evaluated)};
  if (evaluated > whole_blocks(plan.ask.tokens.size())) {
    note_seen(plan, std::span{tokens}.first(evaluated * blocks::kBlockTokens), chain);
  }
  return blocks.sizes.size();
}

// A part that the disk has in some longer block is not kept.
void PrefixRoom::State::take_in(Plan& plan, MemoryBlocks::Block block) {
  block.domain = plan.domain;
  block.chain_blocks = plan.chain.size();
  block.last_reply = world_.loop.now();
  block.module = plan.ask.module;
  const Digest digest = blocks::digest_of(block.parent, block.tokens);
  if (block.tokens.size() < blocks::kBlockTokens) {
    const auto there = disk_.next(block.parent, block.tokens);
    if (block.module.empty() && there && there->tokens == block.tokens.size()) {
      memory_.free_slot(*block.room, block.slot);
      return;
    }
    plan.parts.push_back(digest);
  }
  memory_.add(digest, std::move(block));
}

void PrefixRoom::State::close(std::uint64_t request) {
  const auto found = plans_.find(request);
  if (found == plans_.end()) return;
  Plan& plan = found->second;
  let_go(plan);
  plan.started = true;
  if (plan.keep.slots.empty()) return end(request);
  if (plan.expiry != 0) return;
  plan.expiry = world_.loop.call_at(world_.loop.now() + kLatestBlocks, [this, request] {
    plans_[request].expiry = 0;
    end(request);
  });
}

void PrefixRoom::State::end(std::uint64_t request) {
  const auto found = plans_.find(request);
  if (found == plans_.end()) return;
  Plan plan = std::move(found->second);
  plans_.erase(found);
  plan_ended_.notify_all();
  let_go(plan);
  if (plan.expiry != 0) world_.loop.cancel(plan.expiry);
  if (plan.keep.room != nullptr) {
    memory_.end(plan.keep);
    for (const int slot : plan.keep.slots) memory_.free_slot(*plan.keep.room, slot);
  }
  set_last_reply(plan, world_.loop.now());
  schedule(world_.loop.now() + std::chrono::seconds{limits().quiet_s});
}

void PrefixRoom::State::set_last_reply(const Plan& plan, TimePoint when) {
  for (const std::vector<Digest>* digests : {&plan.chain, &plan.parts}) {
    for (const Digest& digest : *digests) {
      MemoryBlocks::Block* block = memory_.find(digest);
      if (block == nullptr) continue;
      block->last_reply = when;
      block->chain_blocks = std::max(block->chain_blocks, plan.chain.size());
    }
  }
}

}  // namespace hearth::front
