// SPDX-License-Identifier: Apache-2.0
#include "cli/timeline_bar.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace hearth::cli {
namespace {

// From an eighth of a cell to a whole one, growing from the left.
constexpr std::array<std::string_view, 8> kEighths{"▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};

std::string unicode_run(double cells, std::size_t room) {
  const auto eighths =
      std::clamp<std::size_t>(static_cast<std::size_t>(std::llround(cells * 8)), 1, room * 8);
  std::string run;
  for (std::size_t full = 0; full < eighths / 8; ++full) run += kEighths[7];
  if (eighths % 8 != 0) run += kEighths[eighths % 8 - 1];
  return run;
}

std::string ascii_run(double cells, std::size_t room) {
  if (cells < 0.5) return "|";
  return std::string(
      std::clamp<std::size_t>(static_cast<std::size_t>(std::llround(cells)), 1, room), '#');
}

}  // namespace

std::string timeline_bar(Place place, std::size_t cells, BarStyle style) {
  if (cells == 0 || !(place.length > 0)) return {};
  const double begin = std::clamp(place.start, 0.0, 1.0) * static_cast<double>(cells);
  const double length = std::clamp(place.length, 0.0, 1.0) * static_cast<double>(cells);
  const std::size_t first = std::min(static_cast<std::size_t>(begin + 0.5), cells - 1);
  const std::size_t room = cells - first;
  return std::string(first, ' ') +
         (style == BarStyle::kUnicode ? unicode_run(length, room) : ascii_run(length, room));
}

}  // namespace hearth::cli
