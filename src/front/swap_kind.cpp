// SPDX-License-Identifier: Apache-2.0
#include "front/swap_kind.h"

namespace hearth::front {

std::string swap_kind(std::string_view swaps) {
  int compressed = 0, others = 0;
  // The first line has the columns' names.
  for (std::size_t end = swaps.find('\n'); end != swaps.npos; end = swaps.find('\n')) {
    swaps.remove_prefix(end + 1);
    if (!swaps.starts_with('/')) continue;
    ++(swaps.starts_with("/dev/zram") ? compressed : others);
  }
  if (compressed > 0 && others == 0) return "zram";
  return others > 0 && compressed == 0 ? "disk" : "";
}

}  // namespace hearth::front
