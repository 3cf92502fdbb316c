// SPDX-License-Identifier: Apache-2.0
#include "front/memory/memory_gauges.h"

#include <utility>

#include "front/memory/capped_sum.h"

namespace hearth::front {

MemoryFigures figures_of(std::string memory, const MemoryBudget& budget) {
  MemoryFigures figures;
  figures.memory = std::move(memory);
  if (budget.limit() != kBoundless) figures.limit = budget.limit();
  figures.promised = budget.promised();
  for (const Held& held : budget.held_by()) {
    figures.held.push_back({std::string{name_of(held.what)}, held.shown(), held.bytes});
  }
  return figures;
}

}  // namespace hearth::front
