// SPDX-License-Identifier: Apache-2.0
#include "policy/prefill_curve.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "policy/quantile.h"

namespace hearth {
namespace {

// Of a small home machine; any measurement takes their place.
constexpr double kSecondsPerByte = 7e-11;  // once through the weights
constexpr double kSecondsPerByteAndToken = 1.5e-11;
// How much less each older measurement counts, and each one whose prompt is twice as long.
constexpr double kAge = 0.85;
constexpr double kPerOctave = 0.4;
constexpr std::size_t kFromOther = 4;

}  // namespace

double PrefillCurve::guess(Bytes weights, int tokens) {
  const auto bytes = static_cast<double>(std::max<std::uint64_t>(weights.count(), 1 << 20));
  return bytes * (kSecondsPerByte + kSecondsPerByteAndToken * tokens);
}

void PrefillCurve::add(Bytes weights, const std::vector<PrefillSample>& samples) {
  double weight = 1;
  for (auto sample = samples.rbegin(); sample != samples.rend(); ++sample) {
    stretch_.push_back({sample->tokens, sample->seconds / guess(weights, sample->tokens), weight});
    weight *= kAge;
  }
}

void PrefillCurve::learn(const std::vector<PrefillSample>& samples) {
  if (samples.empty()) return;
  if (!own_) stretch_.clear();
  own_ = true;
  add(weights_, samples);
}

void PrefillCurve::learn_from_other(Bytes weights, const std::vector<PrefillSample>& samples) {
  if (own_) return;
  const std::size_t count = std::min(samples.size(), kFromOther);
  add(weights, {samples.end() - static_cast<std::ptrdiff_t>(count), samples.end()});
}

double PrefillCurve::seconds(int tokens) const {
  if (tokens <= 0) return 0;
  std::vector<Weighted> ratios;
  for (const Stretch& one : stretch_) {
    const double octaves = std::abs(std::log2(static_cast<double>(tokens) / one.tokens));
    ratios.push_back({one.ratio, one.weight * std::pow(kPerOctave, octaves)});
  }
  return guess(weights_, tokens) * median(std::move(ratios)).value_or(1);
}

}  // namespace hearth
