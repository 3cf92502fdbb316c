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
    : model_{model}, threads_{threads}, abort_{abort}, limits_{limits} {
  slots_.resize(static_cast<std::size_t>(limits.sequences));
}

Result<std::unique_ptr<Context>> KvRoom::make_context(int cells) const {
  return Context::create(model_, {cells, limits_.sequences + 1}, threads_, abort_);
}

Result<> KvRoom::open(int prompt) {
  auto context = make_context(first_cells(limits_, prompt));
  if (!context) return Failed{std::move(context).error()};
  context_ = std::move(*context);
  return {};
}

std::optional<KvRoom::Taken> KvRoom::take(std::span<const Token> prompt, Reuse reuse) {
  std::vector<SlotView> views;
  for (const Slot& slot : slots_) {
    const bool compare = !slot.busy && reuse == Reuse::kYes;
    const int common = compare ? common_prefix(slot.tokens, prompt) : 0;
    views.push_back({slot.busy, static_cast<int>(slot.tokens.size()), common, slot.last_used});
  }
  const auto chosen = choose_slot(views);
  if (!chosen) return std::nullopt;
  Slot& slot = slots_[index(*chosen)];
  // The last token is evaluated again in any case: its logits are what the answer begins with.
  const int wanted = std::min(views[index(*chosen)].common, static_cast<int>(prompt.size()) - 1);
  const int cached = std::min(context_->keep(*chosen, wanted), wanted);
  slot.tokens.resize(static_cast<std::size_t>(cached));
  slot.busy = true;
  slot.last_used = ++uses_;
  return Taken{*chosen, cached};
}

void KvRoom::give_back(int slot, Reuse later) {
  slots_[index(slot)].busy = false;
  slots_[index(slot)].last_used = ++uses_;
  if (later == Reuse::kNo) clear(slot);
}

void KvRoom::clear(int slot) {
  context_->keep(slot, 0);
  slots_[index(slot)].tokens.clear();
}

std::vector<IdleCells> KvRoom::idle() const {
  std::vector<IdleCells> out;
  for (int i = 0; i < limits_.sequences; ++i) {
    const Slot& slot = slots_[index(i)];
    if (!slot.busy) out.push_back({i, static_cast<int>(slot.tokens.size()), slot.last_used});
  }
  return out;
}

Result<bool> KvRoom::make_room(int needed) {
  int idle_cells = 0;
  for (const Slot& slot : slots_)
    idle_cells += slot.busy ? 0 : static_cast<int>(slot.tokens.size());
  if (needed + idle_cells <= cells()) return false;
  const CellPlan plan = plan_cells(limits_, cells(), needed, idle());
  for (const int slot : plan.evict) clear(slot);
  if (plan.cells <= cells()) return false;
  if (auto grown = grow(plan.cells); !grown) return Failed{std::move(grown).error()};
  return true;
}

Result<> KvRoom::make_more_room() {
  std::vector<IdleCells> candidates = idle();
  std::erase_if(candidates, [](const IdleCells& cells) { return cells.cells == 0; });
  if (candidates.empty()) {
    const int larger = std::min(cells() * 2, limits_.most() + limits_.context);
    if (larger <= cells()) return fail(ErrorCode::kNoSpace, "no KV cells are left");
    return grow(larger);
  }
  const auto oldest = std::min_element(
      candidates.begin(), candidates.end(),
      [](const IdleCells& a, const IdleCells& b) { return a.last_used < b.last_used; });
  clear(oldest->slot);
  return {};
}

Result<> KvRoom::grow(int cells) {
  auto larger = make_context(cells);
  if (!larger) return Failed{std::move(larger).error()};
  for (int i = 0; i < limits_.sequences; ++i) {
    if (slots_[index(i)].tokens.empty()) continue;
    const std::string state = context_->save(i);
    if (auto copied = (*larger)->restore(i, state); !copied) return copied;
  }
  context_ = std::move(*larger);
  return {};
}

void KvRoom::append(int slot, std::span<const Token> tokens) {
  auto& held = slots_[index(slot)].tokens;
  held.insert(held.end(), tokens.begin(), tokens.end());
}

void KvRoom::append_evaluated(int slot, std::span<const Token> tokens) {
  const int got = context_->evaluated(slot) - used(slot);
  if (got < 0) return clear(slot);
  append(slot, tokens.first(std::min(static_cast<std::size_t>(got), tokens.size())));
}

int KvRoom::live_tokens() const {
  int sum = 0;
  for (const Slot& slot : slots_) sum += static_cast<int>(slot.tokens.size());
  return sum;
}

}  // namespace hearth::worker
