// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/random.h"

namespace hearth::testing {

// `text` with one to four things wrong: a byte changed, a piece lost, doubled or cut off.
inline std::string mutated(std::string_view text, Random& random) {
  std::string out{text};
  for (std::uint64_t n = 1 + random.next() % 4; n > 0 && !out.empty(); --n) {
    const std::size_t at = random.next() % out.size();
    const std::size_t length = 1 + random.next() % 24;
    switch (random.next() % 5) {
      case 0:
        out[at] = static_cast<char>(random.next());
        break;
      case 1:
        out.erase(at, length);
        break;
      case 2:
        out.insert(at, out.substr(at, length));
        break;
      case 3:
        out.resize(at);
        break;
      default:
        out[at] = "{}[]\",:0-9\\/.%"[random.next() % 14];
    }
  }
  return out;
}

}  // namespace hearth::testing
