// SPDX-License-Identifier: Apache-2.0
#include "worker/step_plan.h"

#include <algorithm>

namespace hearth::worker {
namespace {

constexpr int kGranule = 64;

int share_of(int prompt_left, int budget) {
  return prompt_left <= budget ? prompt_left : budget / kGranule * kGranule;
}

}  // namespace

std::vector<int> plan_step(std::span<const Demand> demands, int chunk, int batch) {
  std::vector<int> shares(demands.size(), 0);
  int decoding = 0;
  for (std::size_t i = 0; i < demands.size(); ++i) {
    if (!demands[i].decoding) continue;
    shares[i] = 1;
    ++decoding;
  }
  int budget = decoding == 0 ? batch : std::min(chunk, batch - decoding);
  for (std::size_t i = 0; i < demands.size(); ++i) {
    if (demands[i].decoding || demands[i].prompt_left == 0) continue;
    shares[i] = decoding == 0 ? std::min(demands[i].prompt_left, budget)
                              : share_of(demands[i].prompt_left, budget);
    budget -= shares[i];
    if (decoding == 0) break;
  }
  return shares;
}

}  // namespace hearth::worker
