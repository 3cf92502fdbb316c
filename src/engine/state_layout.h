// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace hearth::engine {

// What we rely on of the engine's own form of a sequence's state: a mark and a sequence id, which
// nobody reads, then one section for each set of cells: the number of streams (ours have one), the
// number of cells, and each cell's position; then layer by layer what is in them. The engine checks
// the rest, but believes these numbers: it would take memory for as many cells as it is told.
inline constexpr std::size_t kStatePreamble = 8;
inline constexpr std::size_t kEmptySection = 8;

bool has_preamble(std::span<const std::byte> state);

enum class Cells {
  kAll,   // one for each position
  kLast,  // at least the last ones: those before are behind the window
};

// Whether `section` begins as one for positions first .. first + count - 1, once each.
bool section_holds(std::span<const std::byte> section, int first, int count, Cells cells);

}  // namespace hearth::engine
