// SPDX-License-Identifier: Apache-2.0
#include "worker/chunk_size.h"

#include <algorithm>

namespace hearth::worker {
namespace {

constexpr int kGranule = 64;
constexpr int kLargest = 2048;
constexpr double kSeconds = 0.25;
// Each step reads all weights once, so two steps of 64 cost more than one of 128 (6 % of a whole
// request with four streams on two cores): a step may take this much longer to save one.
constexpr double kLeeway = 1.25;
constexpr double kWeightOfNewest = 0.5;

}  // namespace

int ChunkSize::tokens() const {
  const int affordable =
      static_cast<int>(std::min<double>(tokens_per_second_ * kSeconds * kLeeway, kLargest));
  return std::max(kGranule, affordable / kGranule * kGranule);
}

void ChunkSize::measured(int tokens, Duration took) {
  if (tokens < kGranule || took <= Duration::zero()) return;
  const double speed = tokens / (static_cast<double>(took.count()) / 1e9);
  tokens_per_second_ = tokens_per_second_ == 0.0
                           ? speed
                           : tokens_per_second_ + kWeightOfNewest * (speed - tokens_per_second_);
}

}  // namespace hearth::worker
