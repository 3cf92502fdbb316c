// SPDX-License-Identifier: Apache-2.0
#include "lab/statistics/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/random.h"

namespace hearth::lab {
namespace {

constexpr int kResamples = 2000;
constexpr int kMostResamples = 20'000;
constexpr int kBeyondEachEnd = 50;  // resamples that lie outside, for an end that is not luck
constexpr auto kFewest = static_cast<std::size_t>(kFewestForInterval);

// Of values in order.
double quantile_of(const std::vector<double>& sorted, double share) {
  const double at = std::clamp(share, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  if (below + 1 >= sorted.size()) return sorted.back();
  return std::lerp(sorted[below], sorted[below + 1], at - static_cast<double>(below));
}

double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// As many as there are, each drawn from all of them.
void draw(const std::vector<double>& from, std::vector<double>& into, Random& random) {
  into.resize(from.size());
  for (double& value : into) value = from[random.next() % from.size()];
}

double normal_tail(double z) { return std::erfc(z / std::sqrt(2.0)) / 2; }

// The z beyond which `tail` lies, 0 < tail < 0.5.
double normal_quantile(double tail) {
  double low = 0, high = 10;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (normal_tail(middle) > tail ? low : high) = middle;
  }
  return low;
}

// Student's t for the same tail, by Cornish and Fisher's expansion.
double student_quantile(double tail, double freedom) {
  const double z = normal_quantile(tail), z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  return z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * freedom * freedom * freedom);
}

// The share of resamples to cut off at each end for an interval of `confidence`, of `count` values.
double tail_for(double confidence, std::size_t count) {
  const auto n = static_cast<double>(count);
  const double t = student_quantile((1 - confidence) / 2, n - 1);
  return normal_tail(t * std::sqrt(n / (n - 1)));
}

int resamples_for(double confidence) {
  const double outside = std::max(1 - confidence, 1e-6) / 2;
  return static_cast<int>(std::clamp(kBeyondEachEnd / outside, static_cast<double>(kResamples),
                                     static_cast<double>(kMostResamples)));
}

Interval interval_of(std::vector<double> resampled, double middle, double tail) {
  std::ranges::sort(resampled);
  return {quantile_of(resampled, tail), middle, quantile_of(resampled, 1 - tail), 0};
}

// The smallest and the largest ratio that any pair of them has.
Interval range_of_ratios(const std::vector<double>& before, const std::vector<double>& after,
                         double middle) {
  const auto [before_low, before_high] = std::ranges::minmax(before);
  const auto [after_low, after_high] = std::ranges::minmax(after);
  const double high = before_low > 0 ? after_high / before_low : middle;
  return {after_low / before_high, middle, high, 0};
}

}  // namespace

std::optional<double> quantile(std::vector<double> values, double share) {
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  return quantile_of(values, share);
}

std::optional<Interval> median_interval(const std::vector<double>& values, std::uint64_t seed) {
  if (values.empty()) return std::nullopt;
  std::vector<double> drawn = values;
  const double middle = median_of(drawn);
  Interval found;
  if (values.size() < kFewest) {
    const auto [low, high] = std::ranges::minmax(values);
    found = {low, middle, high, 0};
  } else {
    Random random{seed};
    std::vector<double> medians;
    for (int i = 0; i < kResamples; ++i) {
      draw(values, drawn, random);
      medians.push_back(median_of(drawn));
    }
    found = interval_of(std::move(medians), middle, tail_for(kUsualConfidence, values.size()));
  }
  found.count = static_cast<int>(values.size());
  return found;
}

std::optional<Interval> ratio_interval(const std::vector<double>& ours,
                                       const std::vector<double>& theirs, std::uint64_t seed) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) {
    if (ours[i] > 0 && theirs[i] > 0) ratios.push_back(ours[i] / theirs[i]);
  }
  return median_interval(ratios, seed);
}

std::optional<Interval> change_interval(const std::vector<double>& before,
                                        const std::vector<double>& after, std::uint64_t seed,
                                        double confidence) {
  if (before.empty() || after.empty()) return std::nullopt;
  std::vector<double> old_drawn = before;
  std::vector<double> new_drawn = after;
  const double was = median_of(old_drawn);
  if (was <= 0) return std::nullopt;
  const double middle = median_of(new_drawn) / was;
  const std::size_t fewer = std::min(before.size(), after.size());
  Interval found;
  if (fewer < kFewest) {
    found = range_of_ratios(before, after, middle);
  } else {
    Random random{seed};
    std::vector<double> ratios;
    for (int i = resamples_for(confidence); i > 0; --i) {
      draw(before, old_drawn, random);
      draw(after, new_drawn, random);
      const double divisor = median_of(old_drawn);
      if (divisor > 0) ratios.push_back(median_of(new_drawn) / divisor);
    }
    found = interval_of(std::move(ratios), middle, tail_for(confidence, fewer));
  }
  found.count = static_cast<int>(fewer);
  return found;
}

}  // namespace hearth::lab
