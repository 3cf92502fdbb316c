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
  return {options.prefix && !options.exact ? Keep::kYes : Keep::kNo,
          options.exact ? Repeats::kExactly : Repeats::kAnyhow};
}

Scheduler::Scheduler(Parts parts, How how) : parts_{parts}, how_{how} {}

bool Scheduler::admit(const RequestPtr& request, TimePoint ready) {
  if (how_.repeats == Repeats::kExactly && !active_.empty()) return false;
  const Reuse wish = request->reuse_prefix ? Reuse::kYes : Reuse::kNo;
  const auto taken = parts_.room.take(request->prompt, kept(wish));
  if (!taken) return false;
  auto sequence = std::make_unique<Sequence>(
      request, parts_.vocabulary, parts_.replies,
      Sequence::Place{taken->slot, taken->cached, request->context_limit});
  sequence->waited(ready, Clock::real().now());
  active_.push_back(std::move(sequence));
  grow_for(*active_.back());
  return true;
}

int Scheduler::cells_needed() const {
  int sum = 0;
  for (const auto& sequence : active_) sum += sequence->cells_needed();
  return sum;
}

// On failure the sequence is gone.
void Scheduler::grow_for(Sequence& sequence) {
  const TimePoint start = Clock::real().now();
  const auto grown = parts_.room.make_room(cells_needed());
  if (!grown) return fail(sequence, grown.error());
  if (*grown) sequence.context_grew(start, Clock::real().now());
}

void Scheduler::step() {
  finish_cancelled();
  if (active_.empty()) return;
  if (const auto room = parts_.room.make_room(cells_needed()); !room) {
    // Whoever came last has least to lose.
    return fail(*active_.back(), room.error());
  }
  std::vector<Share> shares = plan();
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
    Sequence& sequence = *active_[i];
    if (!sequence.cancelled()) {
      ++i;
      continue;
    }
    sequence.finish_cancelled(figures());
    remove(&sequence, Reuse::kYes);
  }
}

StepKind Scheduler::kind_of(const std::vector<Share>& shares) {
  int tokens = 0;
  for (const Share& share : shares) tokens += share.tokens;
  return tokens < kPromptFrom ? StepKind::kTokens : StepKind::kPrompt;
}

std::vector<Scheduler::Share> Scheduler::plan() {
  std::vector<Demand> demands;
  for (const auto& sequence : active_) demands.push_back(sequence->demand());
  const engine::Context& context = parts_.room.context();
  // A prompt that has the step for itself goes in the engine's own pieces: the same computations,
  // and between them the threads' count can change and others can come in.
  const bool writes = std::ranges::any_of(demands, &Demand::decoding);
  const std::vector<int> tokens =
      plan_step(demands, chunk_.tokens(), writes ? context.max_batch() : context.micro_batch());
  std::vector<Share> shares;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] > 0) shares.push_back({active_[i].get(), tokens[i]});
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
  const bool alone = shares.size() == 1;
  parts_.abort.cancelled = alone ? &shares.front().sequence->request().cancelled : nullptr;
  Decoded outcome = parts_.room.context().decode();
  while (outcome == Decoded::kNoCells) {
    if (const auto more = parts_.room.make_more_room(); !more) {
      log::error("no_cells", {{"needed", cells_needed()}, {"cells", parts_.room.cells()}});
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

KvRoom::Reuse Scheduler::kept(Reuse wish) const {
  return how_.keep == KeepPrefixes::kYes ? wish : Reuse::kNo;
}

void Scheduler::end(Sequence& sequence) {
  if (sequence.error() != nullptr) return fail(sequence, *sequence.error());
  parts_.room.give_back(sequence.slot(), kept(sequence.wants_reuse() ? Reuse::kYes : Reuse::kNo));
  sequence.finish(figures());
  std::erase_if(active_, [&](const auto& active) { return active.get() == &sequence; });
}

void Scheduler::fail(Sequence& sequence, const Error& error) {
  sequence.fail(error);
  remove(&sequence, Reuse::kNo);
}

void Scheduler::fail_all(const Error& error) {
  while (!active_.empty()) fail(*active_.back(), error);
}

void Scheduler::remove(const Sequence* sequence, Reuse later) {
  parts_.room.give_back(sequence->slot(), kept(later));
  std::erase_if(active_, [&](const auto& active) { return active.get() == sequence; });
}

}  // namespace hearth::worker
