// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace hearth::lab {

constexpr double kUsualConfidence = 0.95;

// Of fewer values no range of them holds the median with 95 %: five do so in 15 of 16 cases.
constexpr int kFewestForInterval = 6;

// A figure with its 95 % interval, or with the range of so few values that there is none.
struct Interval {
  double low = 0;
  double middle = 0;
  double high = 0;
  int count = 0;

  bool is_range() const { return count < kFewestForInterval; }
  const char* kind() const { return is_range() ? "range" : "interval"; }  // "... 95 %"
};

// Linear between neighbours (Hyndman and Fan's type 7). `share` 0 to 1; of nothing: nullopt.
std::optional<double> quantile(std::vector<double> values, double share);

// The median, with a percentile bootstrap of 2,000 resamples (Efron 1979), whose percentiles lie
// further out the fewer values there are (Hesterberg 2015): without that, 15 values give intervals
// that miss one time in nine. Of fewer than kFewestForInterval values it is their range. Of
// nothing: nullopt. The same seed gives the same interval.
std::optional<Interval> median_interval(const std::vector<double>& values, std::uint64_t seed = 1);

// The median of ours[i] / theirs[i], which are pairs from one block. Pairs with a zero are left
// out.
std::optional<Interval> ratio_interval(const std::vector<double>& ours,
                                       const std::vector<double>& theirs, std::uint64_t seed = 1);

// Median of `after` / median of `before`, of samples that are not paired; resampled apart, more
// often the more confidence is asked for. Where either has fewer than kFewestForInterval values:
// the range of all ratios between them. Of nothing, or where `before` is zero: nullopt. `count` is
// the smaller one.
std::optional<Interval> change_interval(const std::vector<double>& before,
                                        const std::vector<double>& after, std::uint64_t seed = 1,
                                        double confidence = kUsualConfidence);

}  // namespace hearth::lab
