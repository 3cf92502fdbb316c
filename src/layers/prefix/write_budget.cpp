// SPDX-License-Identifier: Apache-2.0
#include "layers/prefix/write_budget.h"

#include <limits>

namespace hearth {
namespace {

constexpr std::int64_t kDayUs = std::int64_t{24} * 60 * 60 * 1'000'000;

}  // namespace

Bytes WriteBudget::written(std::int64_t now_us) const {
  return now_us / kDayUs > state_.day ? Bytes{} : state_.written;
}

// A difference, as a sum of sizes could overflow.
bool WriteBudget::allows(Bytes size, Bytes daily, std::int64_t now_us) const {
  return size <= daily - written(now_us) && written(now_us) < daily;
}

void WriteBudget::note_written(Bytes size, std::int64_t now_us) {
  constexpr Bytes kMost{std::numeric_limits<std::uint64_t>::max()};
  const Bytes before = written(now_us);
  state_.day = now_us / kDayUs > state_.day ? now_us / kDayUs : state_.day;
  state_.written = size > kMost - before ? kMost : before + size;
}

}  // namespace hearth
