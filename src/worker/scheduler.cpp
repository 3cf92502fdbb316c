// SPDX-License-Identifier: Apache-2.0
#include "worker/scheduler.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace hearth::worker {

using engine::Decoded;
using engine::Logits;
using Reuse = KvRoom::Reuse;

namespace {

// Tokens in a step from which on it is bound by arithmetic, not by the reading of weights.
constexpr int kPromptFrom = 16;

}  // namespace

Scheduler::How scheduling_of(const wire::LoadOptions& options) {
  using Keep = Scheduler::KeepPrefixes;
  using Repeats = Scheduler::Repeats;
  return {options.prefix ? Keep::kYes : Keep::kNo,
          options.exact ? Repeats::kExactly : Repeats::kAnyhow};
}

Scheduler::Scheduler(Parts parts, How how) : parts_{parts}, how_{how} {}

bool Scheduler::admit(const RequestPtr& request, TimePoint ready) {
  if (how_.repeats == Repeats::kExactly && !active_.empty()) return false;
  const auto taken = parts_.room.take(wish_of(*request));
  if (!taken) return false;
  Active active;
  active.sequence = std::make_unique<Sequence>(
      request, parts_.vocabulary, parts_.replies,
      Sequence::Place{taken->slot, taken->cached, request->context_limit});
  active.sequence->waited(ready, Clock::real().now());
  begin_prefix(active);
  if (request->prefix) {
    const int prompt = static_cast<int>(request->prompt.size());
    parts_.keeping.begin({request->id, taken->slot, prompt}, *request->prefix);
  }
  active_.push_back(std::move(active));
  grow_for(*active_.back().sequence);
  return true;
}

// Cells that those in hand will need beside the ones they hold, for their next tokens or their
// whole prompts.
int Scheduler::more_cells() const {
  int sum = 0;
  for (const Active& active : active_) {
    int held = parts_.room.used(active.sequence->slot());
    if (active.leader != nullptr) held = std::max(held, active.common);
    sum += std::max(0, active.sequence->cells_needed() - held);
    if (active.restore) sum += active.restore->spare_cells();
  }
  return sum;
}

// On failure the sequence is gone.
void Scheduler::grow_for(Sequence& sequence) {
  const TimePoint start = Clock::real().now();
  const auto grown = parts_.room.make_room(more_cells());
  if (!grown) return fail(sequence, grown.error());
  if (*grown) sequence.context_grew(start, Clock::real().now());
}

void Scheduler::step() {
  finish_cancelled();
  if (active_.empty()) return;
  advance_prefixes();
  if (const auto room = parts_.room.make_room(more_cells()); !room) {
    // Whoever came last has least to lose.
    return fail(*active_.back().sequence, room.error());
  }
  std::vector<Share> shares = plan();
  if (shares.empty()) return;
  const TimePoint start = Clock::real().now();
  for (const Share& share : shares) share.sequence->step_begins(start);
  parts_.cpu.before_step(parts_.threads, kind_of(shares));
  fill_batch(shares);
  const Decoded outcome = decode(shares);
  parts_.gauges.steps.fetch_add(1, std::memory_order_relaxed);
  if (outcome != Decoded::kDone) return take_broken(shares, outcome);
  int prompt_tokens = 0;
  for (const Share& share : shares) prompt_tokens += share.tokens > 1 ? share.tokens : 0;
  chunk_.measured(prompt_tokens, Clock::real().now() - start);
  take_results(shares);
}

void Scheduler::finish_cancelled() {
  for (std::size_t i = 0; i < active_.size();) {
    Sequence& sequence = *active_[i].sequence;
    if (!sequence.cancelled()) {
      ++i;
      continue;
    }
    release(sequence, Reuse::kYes);
    sequence.finish_cancelled(figures());
    forget(sequence);
  }
}

StepKind Scheduler::kind_of(const std::vector<Share>& shares) {
  int tokens = 0;
  for (const Share& share : shares) tokens += share.tokens;
  return tokens < kPromptFrom ? StepKind::kTokens : StepKind::kPrompt;
}

Demand Scheduler::demand_of(const Active& active) const {
  if (waits(active)) return {};
  Demand demand = active.sequence->demand();
  const auto stop_at = [&](int position) {
    const int most = position - active.sequence->prompt_done();
    demand.prompt_left = std::clamp(most, 0, demand.prompt_left);
  };
  if (active.restore) stop_at(active.restore->evaluate_up_to());
  if (active.modules && !demand.decoding) stop_at(active.modules->evaluate_up_to());
  if (parts_.window == 0 || demand.decoding) return demand;
  // Whoever follows can share a window only where it ends.
  for (const Active& follower : active_) {
    const bool follows = follower.leader == active.sequence.get();
    if (follows && follower.common > active.sequence->prompt_done()) stop_at(follower.common);
  }
  return demand;
}

std::vector<Scheduler::Share> Scheduler::plan() {
  std::vector<Demand> demands;
  for (const Active& active : active_) demands.push_back(demand_of(active));
  const engine::Context& context = parts_.room.context();
  // A prompt that has the step for itself goes in the engine's own pieces: the same computations,
  // and between them the threads' count can change and others can come in.
  const bool writes = std::ranges::any_of(demands, &Demand::decoding);
  int batch = writes ? context.max_batch() : context.micro_batch();
  // Others on this machine get the CPUs between steps.
  const bool brief = parts_.cpu.rests() && how_.repeats == Repeats::kAnyhow;
  if (brief && !writes) batch = std::min(batch, chunk_.tokens());
  const std::vector<int> tokens = plan_step(demands, chunk_.tokens(), batch);
  std::vector<Share> shares;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] > 0) shares.push_back({active_[i].sequence.get(), tokens[i]});
  }
  return shares;
}

void Scheduler::fill_batch(std::vector<Share>& shares) {
  engine::Context& context = parts_.room.context();
  context.clear();
  for (Share& share : shares) {
    const int slot = share.sequence->slot();
    int position = parts_.room.used(slot);
    const auto tokens = share.sequence->next(share.tokens);
    const bool wants_logits = share.sequence->finishes_prompt(share.tokens);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const bool last = wants_logits && i + 1 == tokens.size();
      const int entry = context.add(tokens[i], position++, slot, last ? Logits::kYes : Logits::kNo);
      if (last) share.logits = entry;
    }
  }
}

Decoded Scheduler::decode(const std::vector<Share>& shares) {
  // A step that serves one request only ends at once when that request is cancelled.
  // What it turns for others would be half turned then.
  const bool alone = shares.size() == 1 && !parts_.room.context().shifts();
  parts_.abort.cancelled = alone ? &shares.front().sequence->request().cancelled : nullptr;
  Decoded outcome = parts_.room.context().decode();
  while (outcome == Decoded::kNoCells) {
    if (const auto more = parts_.room.make_more_room(); !more) {
      log::error("no_cells", {{"needed", parts_.room.live_tokens() + more_cells()},
                              {"cells", parts_.room.cells()}});
      break;
    }
    std::vector<Share> again = shares;
    fill_batch(again);  // growing made a new context; the entries' order is the same
    outcome = parts_.room.context().decode();
  }
  parts_.abort.cancelled = nullptr;
  return outcome;
}

void Scheduler::take_results(const std::vector<Share>& shares) {
  const Replies::Hold together{parts_.replies};
  for (const Share& share : shares) {
    Sequence& sequence = *share.sequence;
    parts_.room.append(sequence.slot(), sequence.next(share.tokens));
    sequence.evaluated(share.tokens);
    parts_.keeping.evaluated(sequence.slot());
  }
  for (const Share& share : shares) {
    if (share.logits < 0) continue;
    const auto state = share.sequence->take_logits(parts_.room.context().handle(), share.logits);
    if (state == Sequence::State::kEnded) end(*share.sequence);
  }
}

void Scheduler::take_broken(const std::vector<Share>& shares, Decoded outcome) {
  for (const Share& share : shares) {
    Sequence& sequence = *share.sequence;
    if (outcome == Decoded::kAborted) {
      const int before = parts_.room.used(sequence.slot());
      parts_.room.append_evaluated(sequence.slot(), sequence.next(share.tokens));
      sequence.evaluated(parts_.room.used(sequence.slot()) - before);
      continue;  // cancelled, or the process ends
    }
    parts_.room.clear(sequence.slot());
    fail(sequence, Error{ErrorCode::kInternal, "the engine could not evaluate the batch"});
  }
}

// Tokens of it whose cells a later request may use.
int Scheduler::keepable(const Sequence& sequence) const {
  const int used = parts_.room.exact(sequence.slot());
  if (how_.repeats == Repeats::kAnyhow) return used;
  // What was evaluated in whole micro-batches, from the first token on.
  const int prompt = static_cast<int>(sequence.request().prompt.size());
  return std::min(used, prompt) / granule() * granule();
}

void Scheduler::end(Sequence& sequence) {
  if (sequence.error() != nullptr) return fail(sequence, *sequence.error());
  release(sequence, sequence.wants_reuse() ? Reuse::kYes : Reuse::kNo);
  sequence.finish(figures());
  forget(sequence);
}

void Scheduler::fail(Sequence& sequence, const Error& error) {
  sequence.fail(error);
  release(sequence, Reuse::kNo);
  forget(sequence);
}

void Scheduler::fail_all(const Error& error) {
  while (!active_.empty()) fail(*active_.back().sequence, error);
}

void Scheduler::release(const Sequence& sequence, Reuse later) {
  leave_leader(sequence);
  const int slot = sequence.slot();
  const Reuse reuse = kept(later);
  const int count = reuse == Reuse::kYes ? keepable(sequence) : 0;
  parts_.keeping.end(sequence.request().id, count);
  if (reuse == Reuse::kYes) parts_.room.keep(slot, count);
  parts_.room.give_back(slot, reuse);
}

void Scheduler::forget(const Sequence& sequence) {
  for (Active& active : active_) {
    if (active.sequence.get() != &sequence) continue;
    // Their threads read what the request owns.
    active.modules.reset();
    active.restore.reset();
  }
  std::erase_if(active_, [&](const Active& active) { return active.sequence.get() == &sequence; });
}

}  // namespace hearth::worker
