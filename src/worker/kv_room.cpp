// SPDX-License-Identifier: Apache-2.0
#include "worker/kv_room.h"

#include <algorithm>
#include <string>
#include <utility>

#include "worker/slot_choice.h"

namespace hearth::worker {

using engine::Context;
using engine::Token;

KvRoom::KvRoom(const engine::Model& model, const engine::CpuThreads& threads,
               const engine::AbortFlags& abort, CellLimits limits)
    : model_{model},
      threads_{threads},
      abort_{abort},
      limits_{limits},
      shares_{model.not_restorable().empty()},
      slots_(index(limits.sequences)),
      book_{limits.sequences} {}

Result<std::unique_ptr<Context>> KvRoom::make_context(int cells) const {
  return Context::create(model_, {cells, limits_.sequences + 1}, threads_, abort_);
}

Result<> KvRoom::open(int prompt) {
  auto context = make_context(first_cells(limits_, prompt));
  if (!context) return Failed{std::move(context).error()};
  context_ = std::move(*context);
  return {};
}

// ---- who gets which slot ----

int KvRoom::usable(int slot, const Wish& wish) const {
  const Slot& held = slots_[index(slot)];
  if (!shares_ && held.busy) return 0;
  if (wish.reuse == Reuse::kNo || held.domain != wish.domain || held.forgotten) return 0;
  // The last token is evaluated again in any case: its logits are what the answer begins with.
  const int most = static_cast<int>(wish.prompt.size()) - 1;
  const int common = std::min(common_prefix(held.tokens, wish.prompt), most);
  const int count = common / wish.granule * wish.granule;
  return reaches(slot, count) ? count : 0;
}

// What comes after `count` tokens could be evaluated over this slot's cells.
bool KvRoom::reaches(int slot, int count) const {
  if (count == 0) return true;
  // A state that is not by positions is good for going on from its end only.
  if (!shares_) return count == used(slot);
  const int window = context_->sliding_window();
  return window == 0 || context_->window_from(slot) <= std::max(0, count - window);
}

int KvRoom::live(const Wish& wish) const {
  int most = 0;
  for (int i = 0; i < slots(); ++i) most = std::max(most, usable(i, wish));
  return most;
}

std::optional<KvRoom::Taken> KvRoom::take(const Wish& wish) {
  std::vector<SlotView> views;
  for (int i = 0; i < slots(); ++i) {
    const Slot& slot = slots_[index(i)];
    views.push_back(
        {slot.busy, static_cast<int>(slot.tokens.size()), usable(i, wish), slot.last_used});
  }
  const auto chosen = choose_slot(views);
  if (!chosen) return std::nullopt;
  const int wanted = views[index(chosen->source)].common;
  Slot& slot = slots_[index(chosen->slot)];
  slot.busy = true;
  slot.domain = wish.domain;
  slot.last_used = ++uses_;
  if (chosen->slot == chosen->source) return Taken{chosen->slot, keep(chosen->slot, wanted)};
  clear(chosen->slot);
  return Taken{chosen->slot, share(chosen->source, chosen->slot, wanted)};
}

void KvRoom::give_back(int slot, Reuse later) {
  slots_[index(slot)].busy = false;
  slots_[index(slot)].last_used = ++uses_;
  if (later == Reuse::kNo || slots_[index(slot)].forgotten) clear(slot);
  slots_[index(slot)].forgotten = false;
}

void KvRoom::forget() {
  for (int i = 0; i < slots(); ++i) {
    slots_[index(i)].forgotten = slots_[index(i)].busy;
    if (!slots_[index(i)].busy) clear(i);
  }
}

int KvRoom::share(int from, int to, int count) {
  if (!shares_ || !reaches(from, count)) return used(to);
  clear(to);
  context_->share(from, to, count);
  const auto source = tokens(from).first(index(count));
  slots_[index(to)].tokens.assign(source.begin(), source.end());
  book_.share(from, to, count);
  return count;
}

void KvRoom::note_loss(int slot, int kept) {
  if (before_loss_ && used(slot) > kept) before_loss_(slot, kept);
}

int KvRoom::keep(int slot, int count) {
  note_loss(slot, count);
  const int left = std::min(context_->keep(slot, count), count);
  slots_[index(slot)].tokens.resize(index(left));
  book_.cut(slot, left);
  return left;
}

void KvRoom::clear(int slot) { keep(slot, 0); }

// ---- room ----

// The one that was used least recently, of those that hold something.
std::optional<int> KvRoom::oldest_idle() const {
  std::optional<int> oldest;
  for (int i = 0; i < slots(); ++i) {
    if (slots_[index(i)].busy || used(i) == 0) continue;
    if (!oldest || slots_[index(i)].last_used < slots_[index(*oldest)].last_used) oldest = i;
  }
  return oldest;
}

// Idle cells are kept by growing, up to one sequence's context in all. What several idle slots
// share comes back with the last of them.
Result<bool> KvRoom::make_room(int more) {
  const int room = std::max(cells(), limits_.context);
  while (book_.used() + more > room) {
    const std::optional<int> oldest = oldest_idle();
    if (!oldest) break;
    clear(*oldest);
  }
  const CellPlan plan = plan_cells(limits_, cells(), book_.used() + more, {});
  if (plan.cells <= cells()) return false;
  if (auto grown = grow(plan.cells); !grown) return Failed{std::move(grown).error()};
  return true;
}

Result<> KvRoom::make_more_room() {
  if (const std::optional<int> oldest = oldest_idle()) {
    clear(*oldest);
    return {};
  }
  const int larger = std::min(cells() * 2, limits_.most() + limits_.context);
  if (larger <= cells()) return fail(ErrorCode::kNoSpace, "no KV cells are left");
  return grow(larger);
}

Result<> KvRoom::grow(int cells) {
  auto larger = make_context(cells);
  if (!larger) return Failed{std::move(larger).error()};
  for (int i = 0; i < slots(); ++i) {
    if (used(i) == 0) continue;
    if (auto copied = copy_slot(i, **larger); !copied) return copied;
  }
  context_ = std::move(*larger);
  return {};
}

// What it shares with a slot before it is shared again.
Result<> KvRoom::copy_slot(int slot, Context& larger) const {
  int source = 0;
  int common = 0;
  for (int other = 0; other < slot; ++other) {
    if (book_.common(other, slot) <= common) continue;
    common = book_.common(other, slot);
    source = other;
  }
  if (common == 0 || model_.sliding_window() != 0) {
    return larger.restore(slot, context_->save(slot));
  }
  larger.share(source, slot, common);
  const int rest = used(slot) - common;
  if (rest == 0) return {};
  const auto state = context_->save_block(slot, common, rest);
  if (!state) return Failed{state.error()};
  return larger.load_block(slot, common, rest, std::as_bytes(std::span{state->base}),
                           std::as_bytes(std::span{state->window}));
}

// ---- what the engine did ----

void KvRoom::append(int slot, std::span<const Token> tokens) {
  auto& held = slots_[index(slot)].tokens;
  const bool exact = held.empty() || held.back() != kNoToken;
  if (!exact) return append_approximate(slot, static_cast<int>(tokens.size()));
  held.insert(held.end(), tokens.begin(), tokens.end());
  book_.append(slot, static_cast<int>(tokens.size()));
}

void KvRoom::append_approximate(int slot, int count) {
  auto& held = slots_[index(slot)].tokens;
  held.insert(held.end(), index(count), kNoToken);
  book_.append(slot, count);
}

int KvRoom::exact(int slot) const {
  const auto& held = slots_[index(slot)].tokens;
  return static_cast<int>(std::ranges::find(held, kNoToken) - held.begin());
}

void KvRoom::append_evaluated(int slot, std::span<const Token> tokens) {
  const int got = context_->evaluated(slot) - used(slot);
  if (got < 0) return clear(slot);
  append(slot, tokens.first(std::min(static_cast<std::size_t>(got), tokens.size())));
}

}  // namespace hearth::worker
