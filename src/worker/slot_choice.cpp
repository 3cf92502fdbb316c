// SPDX-License-Identifier: Apache-2.0
#include "worker/slot_choice.h"

#include <algorithm>
#include <tuple>

namespace hearth::worker {
namespace {

// An end mark and what a template adds after a reply: not worth a slot of their own.
constexpr int kLittle = 64;

const SlotView& at(std::span<const SlotView> slots, int i) {
  return slots[static_cast<std::size_t>(i)];
}

// The free slot that loses least: an empty one, else the one unused for longest.
std::optional<int> victim(std::span<const SlotView> slots, int spared) {
  std::optional<int> best;
  const auto rank = [&](int i) {
    return std::tuple{at(slots, i).cells > 0, at(slots, i).last_used};
  };
  for (int i = 0; i < static_cast<int>(slots.size()); ++i) {
    if (at(slots, i).busy || i == spared) continue;
    if (!best || rank(i) < rank(*best)) best = i;
  }
  return best;
}

int best_source(std::span<const SlotView> slots) {
  const auto rank = [&](int i) {
    const SlotView& slot = at(slots, i);
    return std::tuple{-slot.common, slot.busy, slot.cells - slot.common, slot.last_used};
  };
  int best = 0;
  for (int i = 1; i < static_cast<int>(slots.size()); ++i) {
    if (rank(i) < rank(best)) best = i;
  }
  return best;
}

}  // namespace

int common_prefix(std::span<const engine::Token> a, std::span<const engine::Token> b) {
  const auto [end, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<int>(end - a.begin());
}

std::optional<SlotChoice> choose_slot(std::span<const SlotView> slots) {
  if (slots.empty()) return std::nullopt;
  const int source = best_source(slots);
  const SlotView& from = at(slots, source);
  if (!from.busy && from.cells - from.common <= kLittle) return SlotChoice{source, source};
  constexpr int kNobody = -1;
  const std::optional<int> other = victim(slots, from.common > 0 ? source : kNobody);
  if (other) return SlotChoice{*other, from.common > 0 ? source : *other};
  if (from.busy) return std::nullopt;
  return SlotChoice{source, source};
}

}  // namespace hearth::worker
