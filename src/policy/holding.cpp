// SPDX-License-Identifier: Apache-2.0
#include "policy/holding.h"

#include <algorithm>

namespace hearth {

std::string_view name_of(HoldingKind kind) {
  switch (kind) {
    case HoldingKind::kPrefixBlocks:
      return "prefix blocks";
    case HoldingKind::kRepackedWeights:
      return "repacked weights";
    case HoldingKind::kWeights:
      return "weights";
    case HoldingKind::kPinnedPages:
      return "pinned pages";
    case HoldingKind::kPageCache:
      return "page cache";
    case HoldingKind::kDeviceWeights:
      return "device weights";
    case HoldingKind::kDeviceContext:
      return "device context";
    case HoldingKind::kHollowWorker:
      return "hollow worker";
  }
  return "?";
}

double regret_per_byte(const Holding& holding) {
  const auto held = static_cast<double>(std::max<std::uint64_t>(1, holding.held.count()));
  return std::max(0.0, holding.arrivals_per_hour) * milliseconds_of(holding.to_restore) / 1000 /
         held;
}

}  // namespace hearth
