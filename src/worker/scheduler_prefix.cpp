// SPDX-License-Identifier: Apache-2.0
//
// Scheduler before a sequence computes: where its prompt's beginning comes from.
#include <algorithm>
#include <utility>

#include "blocks/block_chain.h"
#include "worker/scheduler.h"
#include "worker/slot_choice.h"

namespace hearth::worker {
namespace {

constexpr int kBlock = static_cast<int>(blocks::kBlockTokens);
constexpr int kLeast = static_cast<int>(blocks::kLeastPart);

}  // namespace

// A prompt's beginning is used again in multiples of this.
int Scheduler::granule() const {
  return how_.repeats == Repeats::kExactly ? parts_.room.context().micro_batch() : 1;
}

KvRoom::Reuse Scheduler::kept(KvRoom::Reuse wish) const {
  const bool exact_window = how_.repeats == Repeats::kExactly && parts_.window > 0;
  return how_.keep == KeepPrefixes::kYes && !exact_window ? wish : KvRoom::Reuse::kNo;
}

KvRoom::Wish Scheduler::wish_of(const Request& request) const {
  const auto wish = request.reuse_prefix ? KvRoom::Reuse::kYes : KvRoom::Reuse::kNo;
  return {request.prompt, request.domain, kept(wish), granule()};
}

// How many tokens of it stored blocks have, as far as they are of use: the last token is evaluated
// in any case.
int Scheduler::stored_tokens(const Request& request) const {
  if (!request.prefix || wish_of(request).reuse == KvRoom::Reuse::kNo) return 0;
  const int stored = request.prefix->stored.covered();
  const int most = std::min(stored, static_cast<int>(request.prompt.size()) - 1);
  return most / granule() * granule();
}

void Scheduler::begin_prefix(Active& active) {
  Sequence& sequence = *active.sequence;
  const Request& request = sequence.request();
  if (request.prefix) {
    sequence.prefix().difference = request.prefix->difference;
    if (request.reuse_prefix && kept(KvRoom::Reuse::kYes) == KvRoom::Reuse::kNo) {
      sequence.prefix().not_restorable = "the model has a sliding window, and exact is on";
    }
  }
  const int live = sequence.prompt_done();
  const int stored = stored_tokens(request);
  int common = 0;
  const Active* leader = best_leader(active, common);
  if (leader != nullptr && common >= std::max(live, stored) + kBlock) {
    active.leader = leader->sequence.get();
    active.common = common;
    active.follows_since = Clock::real().now();
  } else if (stored >= live + kLeast) {
    begin_restore(active, stored);
  }
  if (!may_shift(request)) return;
  active.modules = std::make_unique<ModuleLoad>(
      *request.prefix, sequence.slot(), std::max({live, stored, active.common}), parts_.wake);
}

bool Scheduler::may_shift(const Request& request) const {
  return request.prefix && !request.prefix->modules.empty() && how_.repeats == Repeats::kAnyhow &&
         wish_of(request).reuse == KvRoom::Reuse::kYes && parts_.room.context().can_shift();
}

// The prompt that is being read and has most in common with this one. Nobody follows in exact
// repeats, where nobody else is there.
const Scheduler::Active* Scheduler::best_leader(const Active& follower, int& common) const {
  const KvRoom::Wish wish = wish_of(follower.sequence->request());
  if (wish.reuse == KvRoom::Reuse::kNo || !parts_.room.can_share()) return nullptr;
  const Active* best = nullptr;
  for (const Active& other : active_) {
    const Request& request = other.sequence->request();
    if (&other == &follower || !other.sequence->reads_prompt()) continue;
    if (request.domain != wish.domain || !request.reuse_prefix) continue;
    int most = static_cast<int>(wish.prompt.size()) - 1;
    if (other.modules) most = std::min(most, other.modules->exact());
    const int alike = std::min(common_prefix(request.prompt, wish.prompt), most);
    // With a window, what the leader has read beyond it may be what is looked at.
    if (alike <= common || (parts_.window > 0 && alike < kBlock)) continue;
    common = alike;
    best = &other;
  }
  return best;
}

void Scheduler::begin_restore(Active& active, int tokens) {
  Sequence& sequence = *active.sequence;
  PrefixWork& work = *sequence.request().prefix;
  // What is in cells beyond a block's end is in the way of that block.
  const int live = parts_.room.keep(sequence.slot(), sequence.prompt_done() / kBlock * kBlock);
  sequence.restored(live);
  sequence.prefix().live = live;
  if (how_.repeats == Repeats::kExactly) work.both_ways = false;  // other shapes, so other bits
  const Restore::Range range{sequence.slot(), live / kBlock, tokens, parts_.window};
  active.restore = std::make_unique<Restore>(work, range, parts_.wake);
}

bool Scheduler::waits(const Active& active) const {
  if (active.leader != nullptr) return true;
  const int used = parts_.room.used(active.sequence->slot());
  if (active.restore) return active.restore->waiting(used);
  return active.modules && active.sequence->reads_prompt() && active.modules->waiting(used);
}

bool Scheduler::can_step() const {
  return std::ranges::any_of(active_, [this](const Active& active) { return !waits(active); });
}

void Scheduler::advance_prefixes() {
  for (Active& active : active_) {
    if (active.leader != nullptr) {
      const Sequence& leader = *active.leader;
      if (!leader.reads_prompt() || leader.prompt_done() >= active.common) end_following(active);
    }
    if (active.restore) advance_restore(active);
    if (active.modules) advance_modules(active);
  }
}

void Scheduler::advance_restore(Active& active) {
  Sequence& sequence = *active.sequence;
  active.restore->advance(parts_.room);
  sequence.restored(parts_.room.used(sequence.slot()));
  if (!active.restore->done()) return;
  active.restore->tell(sequence.prefix());
  sequence.add_stage(active.restore->stage());
  active.restore.reset();
  if (how_.repeats == Repeats::kExactly) keep_whole_batches(sequence);
}

// A block was refused in the middle of a micro-batch: what follows is to have the shapes of an
// evaluation from the first token on.
void Scheduler::keep_whole_batches(Sequence& sequence) {
  const int used = parts_.room.used(sequence.slot());
  const int whole = parts_.room.keep(sequence.slot(), used / granule() * granule());
  sequence.restored(whole);
  wire::PrefixOutcome& outcome = sequence.prefix();
  int lost = outcome.live + outcome.arena + outcome.disk - whole;
  for (int* tokens : {&outcome.disk, &outcome.arena, &outcome.live}) {
    const int gone = std::clamp(lost, 0, *tokens);
    *tokens -= gone;
    lost -= gone;
  }
}

void Scheduler::advance_modules(Active& active) {
  Sequence& sequence = *active.sequence;
  if (active.leader != nullptr || active.restore || !sequence.reads_prompt()) return;
  active.modules->advance(parts_.room);
  sequence.restored(parts_.room.used(sequence.slot()));
  active.modules->tell(sequence.prefix());
}

// The leader has read what both have in common, or as much of it as it will.
void Scheduler::end_following(Active& active) {
  Sequence& sequence = *active.sequence;
  const int from = std::exchange(active.leader, nullptr)->slot();
  const int alike = std::min(active.common, parts_.room.used(from));
  if (alike > sequence.prompt_done()) {
    const int shared = parts_.room.share(from, sequence.slot(), alike);
    sequence.restored(shared);
    sequence.prefix().live = shared;
  }
  sequence.waited(active.follows_since, Clock::real().now());
  // It may have gone before it got so far.
  const int stored = stored_tokens(sequence.request());
  if (stored >= sequence.prompt_done() + kLeast) begin_restore(active, stored);
}

void Scheduler::leave_leader(const Sequence& leader) {
  for (Active& active : active_) {
    if (active.leader == &leader) end_following(active);
  }
}

}  // namespace hearth::worker
