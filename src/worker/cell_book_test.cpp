// SPDX-License-Identifier: Apache-2.0
#include "worker/cell_book.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/random.h"

namespace hearth::worker {
namespace {

TEST(CellBook, SharedCellsCountOnce) {
  CellBook book{3};
  book.append(0, 100);
  book.share(0, 1, 60);
  book.append(1, 10);
  EXPECT_EQ(book.used(), 110);
  EXPECT_EQ(book.alone(0), 40);
  EXPECT_EQ(book.alone(1), 10);
  EXPECT_EQ(book.common(0, 1), 60);
  book.cut(0, 0);
  EXPECT_EQ(book.used(), 70);
  EXPECT_EQ(book.alone(1), 70);
  EXPECT_EQ(book.held(0), 0);
}

// Against a model that keeps sets of names.
TEST(CellBook, AgreesWithSetsOfCells) {
  Random random{20};
  constexpr int kSlots = 4;
  CellBook book{kSlots};
  std::vector<std::vector<int>> slots(kSlots);
  int next = 0;
  for (int round = 0; round < 5000; ++round) {
    const int slot = static_cast<int>(random.next() % kSlots);
    auto& held = slots[static_cast<std::size_t>(slot)];
    const int kind = static_cast<int>(random.next() % 3);
    if (kind == 0) {
      const int count = static_cast<int>(random.next() % 20);
      for (int i = 0; i < count; ++i) held.push_back(next++);
      book.append(slot, count);
    } else if (kind == 1) {
      const int count = static_cast<int>(random.next() % (held.size() + 1));
      held.resize(static_cast<std::size_t>(count));
      book.cut(slot, count);
    } else {
      const int from = static_cast<int>(random.next() % kSlots);
      const auto& source = slots[static_cast<std::size_t>(from)];
      if (from == slot || !held.empty()) continue;
      const int count = static_cast<int>(random.next() % (source.size() + 1));
      held.assign(source.begin(), source.begin() + count);
      book.share(from, slot, count);
    }
    std::multiset<int> all;
    for (const auto& cells : slots) all.insert(cells.begin(), cells.end());
    EXPECT_EQ(book.used(), static_cast<int>(std::set<int>(all.begin(), all.end()).size()));
    EXPECT_EQ(book.alone(slot),
              std::ranges::count_if(held, [&](int cell) { return all.count(cell) == 1; }));
  }
}

}  // namespace
}  // namespace hearth::worker
