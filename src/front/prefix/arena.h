// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/fd.h"
#include "base/result.h"

namespace hearth::front {

// Memory that a model's workers keep blocks in, and that outlives them: a sparse file without a
// name, in slots of wire::kArenaPitch. A slot takes as many pages as were written into it.
//
// Belongs to the loop, but for read() and punch(), which are thread-safe and belong in the pool.
class Arena {
 public:
  // `name`: for /proc. Errors: kUnavailable, kNoSpace.
  static Result<Arena> create(const std::string& name);

  // For a worker: it can write, and can neither cut nor lengthen. Errors: kUnavailable.
  Result<Fd> share() const;

  // The lowest slot that is free; nothing when all are taken.
  std::optional<int> take();
  // Its pages must have been given back before.
  void give_back(int slot) { free_.insert(slot); }
  int taken() const { return next_ - static_cast<int>(free_.size()); }

  // The first `size` bytes of a slot. Errors: kCorrupt (larger than a slot), kUnavailable.
  Result<std::vector<std::byte>> read(int slot, Bytes size) const;
  // Gives the pages of a slot back to the system; it reads as zeros from now on.
  void punch(int slot) const;

  // What all slots take now.
  Bytes resident() const;

 private:
  explicit Arena(Fd memory) : memory_{std::move(memory)} {}

  Fd memory_;
  int next_ = 0;  // slots from here on were never taken
  std::set<int> free_;
};

}  // namespace hearth::front
