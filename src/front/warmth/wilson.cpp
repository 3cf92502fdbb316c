// SPDX-License-Identifier: Apache-2.0
#include "front/warmth/wilson.h"

#include <algorithm>
#include <cmath>

namespace hearth::front {

double wilson_low(int met, int of) {
  constexpr double z = 1.6448536;  // 95 % of a normal distribution lie below
  if (of <= 0) return 0;
  const double n = of;
  const double share = std::clamp(met / n, 0.0, 1.0);
  const double middle = share + z * z / (2 * n);
  const double spread = z * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  return std::max(0.0, (middle - spread) / (1 + z * z / n));
}

}  // namespace hearth::front
