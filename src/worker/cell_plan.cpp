// SPDX-License-Identifier: Apache-2.0
#include "worker/cell_plan.h"

#include <algorithm>

namespace hearth::worker {
namespace {

// Few, for a context is cleared when it is made, and every start waits for that; growing copies the
// sequences there are, which at this size takes a millisecond or two.
constexpr int kFirstCells = 1024;
constexpr int kRoomToWrite = 256;  // so that the answer's first tokens need no second context

int doubled_until(int cells, int enough, int most) {
  while (cells < enough) cells *= 2;
  return std::max(std::min(cells, most), enough);
}

}  // namespace

int first_cells(const CellLimits& limits, int prompt) {
  const int first = std::min(kFirstCells, limits.context);
  return doubled_until(first, std::min(prompt + kRoomToWrite, limits.context), limits.most());
}

CellPlan plan_cells(const CellLimits& limits, int present, int needed,
                    std::span<const IdleCells> idle) {
  std::vector<IdleCells> oldest_first{idle.begin(), idle.end()};
  std::sort(oldest_first.begin(), oldest_first.end(),
            [](const IdleCells& a, const IdleCells& b) { return a.last_used < b.last_used; });
  int total = needed;
  for (const IdleCells& cells : oldest_first) total += cells.cells;

  CellPlan plan{{}, present};
  const int room = std::max(present, limits.context);
  for (const IdleCells& cells : oldest_first) {
    if (total <= room) break;
    if (cells.cells == 0) continue;
    plan.evict.push_back(cells.slot);
    total -= cells.cells;
  }
  if (total > present) plan.cells = doubled_until(present, total, limits.most());
  return plan;
}

}  // namespace hearth::worker
