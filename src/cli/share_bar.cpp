// SPDX-License-Identifier: Apache-2.0
#include "cli/share_bar.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace hearth::cli {
namespace {

double whole_of(const std::vector<Share>& parts) {
  return std::accumulate(parts.begin(), parts.end(), 0.0, [](double sum, const Share& part) {
    return sum + static_cast<double>(part.bytes.count());
  });
}

// The part whose run is furthest from its due length, in the direction of `sign`.
std::size_t furthest(const std::vector<double>& due, const std::vector<std::int64_t>& runs,
                     double sign) {
  std::size_t found = 0;
  double most = -1e9;
  for (std::size_t i = 0; i < due.size(); ++i) {
    const bool may_shrink = sign > 0 || runs[i] > 1;
    const double off = sign * (due[i] - static_cast<double>(runs[i]));
    if (due[i] <= 0 || !may_shrink || off <= most) continue;
    most = off;
    found = i;
  }
  return found;
}

// How many cells each part gets.
std::vector<std::int64_t> runs_of(const std::vector<Share>& parts, std::size_t cells) {
  const double whole = whole_of(parts);
  std::vector<double> due;
  std::vector<std::int64_t> runs;
  for (const Share& part : parts) {
    due.push_back(static_cast<double>(part.bytes.count()) / whole * static_cast<double>(cells));
    const auto full = static_cast<std::int64_t>(due.back());
    runs.push_back(due.back() > 0 ? std::max<std::int64_t>(full, 1) : 0);
  }
  std::int64_t left =
      static_cast<std::int64_t>(cells) - std::accumulate(runs.begin(), runs.end(), std::int64_t{0});
  for (; left > 0; --left) ++runs[furthest(due, runs, 1)];
  for (; left < 0; ++left) --runs[furthest(due, runs, -1)];
  return runs;
}

}  // namespace

std::string share_bar(const std::vector<Share>& parts, std::size_t cells,
                      const OutputStyle& style) {
  const auto shown =
      std::ranges::count_if(parts, [](const Share& part) { return part.bytes > Bytes{}; });
  if (shown == 0 || cells < static_cast<std::size_t>(shown)) return {};
  const std::vector<std::int64_t> runs = runs_of(parts, cells);
  std::string bar;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string run(static_cast<std::size_t>(runs[i]), parts[i].sign);
    bar += style.paint(parts[i].paint, run);
  }
  return bar;
}

}  // namespace hearth::cli
