// SPDX-License-Identifier: Apache-2.0
#include "policy/outlook.h"

#include <algorithm>

namespace hearth {
namespace {

// Of one's own time, beside each other request: batches share the way through the weights.
constexpr double kPerNeighbour = 0.5;

Duration duration_of(double seconds) {
  constexpr double kLongest = 7 * 24 * 3600.0;
  return Duration{static_cast<std::int64_t>(std::clamp(seconds, 0.0, kLongest) * 1e9)};
}

}  // namespace

double StartParts::seconds(double prefill) const {
  const double compute = prefill * (1 + kPerNeighbour * beside) + repack;
  const double longer = std::max(read, compute);
  const double shorter = std::min(read, compute);
  return spawn + setup + overhead + longer + shorter / std::max(1, layers);
}

Forecast Outlook::alone(int fresh_tokens) const {
  const double seconds = ratio * parts.seconds(prefill.seconds(fresh_tokens));
  return {duration_of(seconds), duration_of(seconds * low), duration_of(seconds * high), known};
}

Forecast Outlook::at(int fresh_tokens) const {
  Forecast forecast = alone(fresh_tokens);
  forecast.time += ahead;
  forecast.low += ahead / 2;
  forecast.high += 2 * ahead;
  return forecast;
}

}  // namespace hearth
