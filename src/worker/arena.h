// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/fd.h"
#include "base/result.h"

namespace hearth::worker {

// The front's memory for blocks beyond live cells: slots of up to wire::kArenaPitch, each with one
// record (blocks/block_record.h). Thread-safe; who writes a slot that another reads gets a record
// that its checksums refuse.
class Arena {
 public:
  // `memory`: what came with kArena.
  explicit Arena(Fd memory) : memory_{std::move(memory)} {}

  // Fills `into` from `offset` of the slot. Errors: kCorrupt (the memory ends before), kInvalid (no
  // slot reaches there), kUnavailable.
  Result<> read(int slot, std::uint64_t offset, std::span<std::byte> into) const;
  // Errors: kNoSpace, kInvalid, kUnavailable; some of it may have been written then.
  Result<> write(int slot, std::uint64_t offset, std::span<const std::byte> bytes) const;

 private:
  Fd memory_;
};

}  // namespace hearth::worker
