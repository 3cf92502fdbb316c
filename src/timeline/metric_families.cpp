// SPDX-License-Identifier: Apache-2.0
#include "timeline/metric_families.h"

#include <algorithm>
#include <iterator>

namespace hearth {

std::vector<prometheus::MetricFamily> FamilyMaker::collect() const {
  std::vector<prometheus::MetricFamily> all = registry_.Collect();
  std::set<std::string> sampled;
  for (const prometheus::MetricFamily& family : all) sampled.insert(family.name);
  std::ranges::copy_if(described_, std::back_inserter(all),
                       [&sampled](const auto& family) { return !sampled.contains(family.name); });
  return all;
}

void ShiftingGauges::replace(const std::map<prometheus::Labels, double>& values) {
  for (const prometheus::Labels& labels : shown_) {
    if (!values.contains(labels)) family_.Remove(&family_.Add(labels));
  }
  shown_.clear();
  for (const auto& [labels, value] : values) {
    family_.Add(labels).Set(value);
    shown_.insert(labels);
  }
}

}  // namespace hearth
