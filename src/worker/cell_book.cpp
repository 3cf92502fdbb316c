// SPDX-License-Identifier: Apache-2.0
#include "worker/cell_book.h"

#include <algorithm>

namespace hearth::worker {

CellBook::CellBook(int slots) { cells_.resize(index(slots)); }

void CellBook::append(int slot, int count) {
  for (int i = 0; i < count; ++i) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(holders_.size()));
      holders_.push_back(0);
    }
    cells_[index(slot)].push_back(free_.back());
    holders_[free_.back()] = 1;
    free_.pop_back();
  }
  used_ += count;
}

void CellBook::cut(int slot, int count) {
  auto& cells = cells_[index(slot)];
  while (cells.size() > static_cast<std::size_t>(std::max(count, 0))) {
    const std::uint32_t cell = cells.back();
    cells.pop_back();
    if (--holders_[cell] > 0) continue;
    free_.push_back(cell);
    --used_;
  }
}

void CellBook::share(int from, int to, int count) {
  const auto& source = cells_[index(from)];
  auto& target = cells_[index(to)];
  const auto end = source.begin() + std::min<std::ptrdiff_t>(count, std::ssize(source));
  target.assign(source.begin(), end);
  for (const std::uint32_t cell : target) ++holders_[cell];
}

int CellBook::alone(int slot) const {
  return static_cast<int>(std::ranges::count_if(
      cells_[index(slot)], [this](std::uint32_t cell) { return holders_[cell] == 1; }));
}

int CellBook::common(int a, int b) const {
  const auto& first = cells_[index(a)];
  const auto& second = cells_[index(b)];
  const auto [end, other] = std::ranges::mismatch(first, second);
  return static_cast<int>(end - first.begin());
}

}  // namespace hearth::worker
