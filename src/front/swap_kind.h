// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace hearth::front {

// What swap is made of, by the text of /proc/swaps: "zram" where all of it is compressed memory,
// "disk" where none is; empty for both together or none at all.
std::string swap_kind(std::string_view swaps);

}  // namespace hearth::front
