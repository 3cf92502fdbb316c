// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hearth::worker {

// How many KV cells there may be.
struct CellLimits {
  int context = 0;    // tokens of one sequence
  int sequences = 1;  // at once

  int most() const { return context * sequences; }
};

// A sequence that nobody uses now, with the cells it would give back.
struct IdleCells {
  int slot = 0;
  int cells = 0;
  std::uint64_t last_used = 0;
};

struct CellPlan {
  std::vector<int> evict;  // slots, in this order
  int cells = 0;           // how many to allocate; the present number: no change
};

// Cells of a context that is made while `prompt` tokens are waiting for it.
int first_cells(const CellLimits& limits, int prompt);

// Room for `needed` cells of busy sequences beside the idle ones. Idle cells are kept by growing,
// up to one sequence's context in all; beyond that the least recently used give way first.
CellPlan plan_cells(const CellLimits& limits, int present, int needed,
                    std::span<const IdleCells> idle);

}  // namespace hearth::worker
