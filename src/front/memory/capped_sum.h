// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#include "base/bytes.h"

namespace hearth::front {

// More than any memory has: what a limit is where there is none.
inline constexpr Bytes kBoundless{std::numeric_limits<std::uint64_t>::max()};

// Reports can be absurd; their sum must not wrap around.
constexpr Bytes capped_sum(Bytes a, Bytes b) { return kBoundless - a < b ? kBoundless : a + b; }

}  // namespace hearth::front
