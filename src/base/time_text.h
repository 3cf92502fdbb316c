// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace hearth {

enum class Fraction { kNone, kNanoseconds };

// Microseconds since 1970 as UTC: "2026-11-30T04:05:18Z", or with nine digits after the seconds.
std::string rfc3339(std::int64_t wall_us, Fraction fraction);

}  // namespace hearth
