// SPDX-License-Identifier: Apache-2.0
#include "engine/state_layout.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace hearth::engine {
namespace {

constexpr std::uint32_t kMark = 0xaf143cd8;
// Position, number of sequences (1), for some models three more numbers, and the sequence.
constexpr std::array<std::size_t, 2> kCellSizes{12, 24};

std::uint32_t number_at(std::span<const std::byte> bytes, std::size_t at) {
  std::uint32_t number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

// Each of them once, and without a gap up to the last.
bool cells_hold(std::span<const std::byte> cells, std::size_t size, int first, int count) {
  std::vector<bool> seen(static_cast<std::size_t>(count));
  for (std::size_t at = 0; at + size <= cells.size(); at += size) {
    const auto place = std::int64_t{number_at(cells, at)} - first;
    if (place < 0 || place >= count || number_at(cells, at + 4) != 1) return false;
    if (seen[static_cast<std::size_t>(place)]) return false;
    seen[static_cast<std::size_t>(place)] = true;
  }
  return seen.back() && std::is_sorted(seen.begin(), seen.end());
}

}  // namespace

bool has_preamble(std::span<const std::byte> state) {
  return state.size() >= kStatePreamble && number_at(state, 0) == kMark;
}

bool section_holds(std::span<const std::byte> section, int first, int count, Cells cells) {
  if (section.size() < kEmptySection || number_at(section, 0) != 1 || count <= 0) return false;
  const std::size_t wanted = static_cast<std::size_t>(count);
  const std::size_t there = number_at(section, 4);
  if (there == 0 || there > wanted || (cells == Cells::kAll && there != wanted)) return false;
  const auto rest = section.subspan(kEmptySection);
  return std::any_of(kCellSizes.begin(), kCellSizes.end(), [&](std::size_t size) {
    return rest.size() >= there * size && cells_hold(rest.first(there * size), size, first, count);
  });
}

}  // namespace hearth::engine
