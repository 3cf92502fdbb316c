// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace hearth::front {

// As the interfaces carry counts of bytes.
inline std::int64_t signed_count(Bytes bytes) { return static_cast<std::int64_t>(bytes.count()); }

}  // namespace hearth::front
