// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace hearth {

// Whether both are the same, in a time that depends on their lengths only, never on where they
// differ. For digests of secrets.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace hearth
