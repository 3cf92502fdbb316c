// SPDX-License-Identifier: Apache-2.0
#include "worker/slot_choice.h"

#include <algorithm>
#include <tuple>

namespace hearth::worker {

int common_prefix(std::span<const engine::Token> a, std::span<const engine::Token> b) {
  const auto [end, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<int>(end - a.begin());
}

std::optional<int> choose_slot(std::span<const SlotView> slots) {
  const auto rank = [](const SlotView& slot) {
    return std::tuple{-slot.common, slot.cells - slot.common, slot.last_used};
  };
  std::optional<int> best;
  for (int i = 0; i < static_cast<int>(slots.size()); ++i) {
    const SlotView& slot = slots[static_cast<std::size_t>(i)];
    if (slot.busy) continue;
    if (!best || rank(slot) < rank(slots[static_cast<std::size_t>(*best)])) best = i;
  }
  return best;
}

}  // namespace hearth::worker
