// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace hearth::worker {

// Which cells the slots hold, by number: a cell that two of them share is one cell. It follows what
// is done to the engine's sequences; the numbers are its own. Belongs to one thread.
class CellBook {
 public:
  explicit CellBook(int slots);

  // `count` new cells at the slot's end.
  void append(int slot, int count);
  // The slot keeps its first `count`.
  void cut(int slot, int count);
  // `to`, which is empty, gets the first `count` of `from`.
  void share(int from, int to, int count);

  int held(int slot) const { return static_cast<int>(cells_[index(slot)].size()); }
  // Of these, held by nobody else.
  int alone(int slot) const;
  // How many cells at the beginning of both are the same.
  int common(int a, int b) const;
  // By all slots together.
  int used() const { return used_; }

 private:
  static std::size_t index(int slot) { return static_cast<std::size_t>(slot); }

  std::vector<std::vector<std::uint32_t>> cells_;  // by slot
  std::vector<std::uint16_t> holders_;             // by cell
  std::vector<std::uint32_t> free_;
  int used_ = 0;
};

}  // namespace hearth::worker
