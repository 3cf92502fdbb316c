// SPDX-License-Identifier: Apache-2.0
#include "front/protected/latency_window.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace hearth::front {

void LatencyWindow::add(TimePoint at, Duration latency) {
  seen_.push_back({at, latency});
  if (seen_.size() > most_) seen_.pop_front();
  drop_before(at - age_);
}

void LatencyWindow::drop_before(TimePoint at) {
  while (!seen_.empty() && seen_.front().at < at) seen_.pop_front();
}

std::size_t LatencyWindow::count_above(Duration limit) const {
  const auto above = [limit](const Seen& seen) { return seen.latency > limit; };
  return static_cast<std::size_t>(std::ranges::count_if(seen_, above));
}

Duration LatencyWindow::quantile(double share) const {
  if (seen_.empty()) return {};
  std::vector<Duration> sorted;
  for (const Seen& seen : seen_) sorted.push_back(seen.latency);
  const double rank = std::ceil(share * static_cast<double>(sorted.size()));
  const auto index = static_cast<std::ptrdiff_t>(std::clamp(rank, 1.0, double(sorted.size()))) - 1;
  std::ranges::nth_element(sorted, sorted.begin() + index);
  return sorted[static_cast<std::size_t>(index)];
}

}  // namespace hearth::front
