// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace hearth::cli {

enum class BarStyle { kAscii, kUnicode };

// An interval's place in a whole, as parts of 1.
struct Place {
  double start = 0;
  double length = 0;
};

// `cells` wide: where [start, start + length) lies in [0, 1]. Whatever has a length at all shows,
// however short; trailing spaces are left out.
std::string timeline_bar(Place place, std::size_t cells, BarStyle style);

}  // namespace hearth::cli
