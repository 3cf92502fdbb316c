// SPDX-License-Identifier: Apache-2.0
#include "policy/quantile.h"

#include <algorithm>

namespace hearth {

// Each value stands at the middle of its own weight; between two of them it goes straight.
std::optional<double> quantile(std::vector<Weighted> values, double q) {
  std::erase_if(values, [](const Weighted& one) { return one.weight <= 0; });
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values, {}, &Weighted::value);
  double total = 0;
  for (const Weighted& one : values) total += one.weight;
  const double wanted = q * total;
  double below = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double middle = below + values[i].weight / 2;
    if (wanted <= middle) {
      if (i == 0) return values[0].value;
      const double before = below - values[i - 1].weight / 2;
      const double share = (wanted - before) / (middle - before);
      return values[i - 1].value + share * (values[i].value - values[i - 1].value);
    }
    below += values[i].weight;
  }
  return values.back().value;
}

}  // namespace hearth
