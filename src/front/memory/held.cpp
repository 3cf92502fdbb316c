// SPDX-License-Identifier: Apache-2.0
#include "front/memory/held.h"

#include <array>

namespace hearth::front {

std::string_view name_of(HeldFor what) {
  static constexpr std::array<std::string_view, 8> kNames{"weights", "repacked", "kv",   "compute",
                                                          "hollow",  "prefix",   "pins", "other"};
  return kNames[static_cast<std::size_t>(what)];
}

}  // namespace hearth::front
