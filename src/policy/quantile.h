// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

namespace hearth {

struct Weighted {
  double value = 0;
  double weight = 1;
};

// The value below which the share `q` of all weight lies; nullopt without weight. One wild value
// among several moves it little, which is why nothing here takes a mean. Pure.
std::optional<double> quantile(std::vector<Weighted> values, double q);

inline std::optional<double> median(std::vector<Weighted> values) {
  return quantile(std::move(values), 0.5);
}

}  // namespace hearth
