// SPDX-License-Identifier: Apache-2.0
#include "policy/beat.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace hearth {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

// Fewer beats, or fewer of them kept, are chance; more need not be looked at.
constexpr int kFewest = 4;
constexpr int kMost = 12;
constexpr double kLeastKept = 0.75;
// If windows cover more than this share of time by the arrivals' sheer number, they prove nothing.
constexpr double kMostByChance = 0.25;
constexpr double kWindow = 0.03;  // of the period
constexpr Duration kLeastWindow = std::chrono::seconds{20};
constexpr Duration kLeastPeriod = minutes{2};
constexpr Duration kMostPeriod = hours{4};

Duration window_of(Duration period) {
  return std::max(
      kLeastWindow,
      Duration{static_cast<std::int64_t>(kWindow * static_cast<double>(period.count()))});
}

bool any_near(std::span<const Duration> arrivals, Duration at, Duration window) {
  const auto first = std::ranges::lower_bound(arrivals, at - window);
  return first != arrivals.end() && *first <= at + window;
}

Duration median_gap(std::span<const Duration> arrivals) {
  std::vector<Duration> gaps;
  for (std::size_t i = 1; i < arrivals.size(); ++i) gaps.push_back(arrivals[i] - arrivals[i - 1]);
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::nth_element(gaps.begin(), middle, gaps.end());
  return *middle;
}

// The beats back from `last`, each looked for where the one after it was found, so that a period
// that is a little off does not run away.
std::optional<Beat> beat_from(std::span<const Duration> arrivals, Duration last, Duration period) {
  const Duration window = window_of(period);
  int beats = 0, kept = 0;
  for (Duration at = last - period; beats < kMost && at >= arrivals.front() - window;
       at -= period, ++beats) {
    kept += any_near(arrivals, at, window);
  }
  if (beats < kFewest || kept < kLeastKept * beats) return std::nullopt;
  return Beat{period, window, last, beats, kept};
}

double share_kept(const Beat& beat) { return static_cast<double>(beat.kept) / beat.looked; }

std::optional<Beat> best_of_period(std::span<const Duration> arrivals, Duration period) {
  const Duration span = arrivals.back() - arrivals.front();
  const double density =
      span.count() > 0 ? static_cast<double>(arrivals.size()) / static_cast<double>(span.count())
                       : 1;
  const double by_chance = density * 2 * static_cast<double>(window_of(period).count());
  if (by_chance > kMostByChance) return std::nullopt;
  std::optional<Beat> best;
  for (auto at = arrivals.rbegin(); at != arrivals.rend(); ++at) {
    if (*at + period < arrivals.back()) break;
    const std::optional<Beat> beat = beat_from(arrivals, *at, period);
    if (beat && (!best || share_kept(*beat) > share_kept(*best))) best = beat;
  }
  return best;
}

}  // namespace

double Beat::probability(Duration now, Duration within) const {
  if (period <= Duration{}) return 0;
  Duration at = last + period;
  const std::int64_t missed = now > at + window ? (now - at - window) / period + 1 : 0;
  at += period * missed;
  const double share = static_cast<double>(kept) / static_cast<double>(looked + missed);
  if (!(share >= kLeastKept)) return 0;
  const Duration from = std::max(now, at - window);
  const double width = static_cast<double>((at + window - from).count());
  const double covered = static_cast<double>((now + within - from).count());
  if (covered <= 0) return 0;
  return share * (width > 0 ? std::min(1.0, covered / width) : 1.0);
}

std::optional<Beat> find_beat(std::span<const Duration> arrivals) {
  if (arrivals.size() <= kFewest) return std::nullopt;
  std::vector<Duration> periods{minutes{5},  minutes{10}, minutes{15}, minutes{20},
                                minutes{30}, hours{1},    hours{2},    hours{4}};
  const Duration gap = median_gap(arrivals);
  if (gap >= kLeastPeriod && gap <= kMostPeriod) periods.push_back(gap);
  for (const Duration period : periods) {
    if (const auto beat = best_of_period(arrivals, period)) return beat;
  }
  return std::nullopt;
}

}  // namespace hearth
