// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace hearth {

// A size in a sentence: "812 B", "91.7 MiB", "4.1 GiB".
inline std::string size_text(Bytes bytes) {
  constexpr std::array<std::string_view, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes.count());
  std::size_t unit = 0;
  // 1023.95 would be shown as 1024.0.
  for (; value >= 1023.95 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes.count())
                   : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace hearth
