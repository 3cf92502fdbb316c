// SPDX-License-Identifier: Apache-2.0
#include "api/shorten.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hearth::api {

void shorten(std::vector<float>& vector, std::size_t dimensions) {
  if (vector.size() <= dimensions) return;
  vector.resize(dimensions);
  const double square = std::inner_product(vector.begin(), vector.end(), vector.begin(), 0.0);
  if (square <= 0) return;
  const auto scale = static_cast<float>(1 / std::sqrt(square));
  std::ranges::transform(vector, vector.begin(), [scale](float value) { return value * scale; });
}

}  // namespace hearth::api
