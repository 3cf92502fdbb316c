// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace hearth::worker {

// What a sequence could use in the next step.
struct Demand {
  bool decoding = false;
  int prompt_left = 0;  // tokens, while it is not decoding
};

// How many tokens of each sequence go into the next step. A sequence that writes gets its one
// token. While none does, the first prompt has the step for itself, as much of it as a batch takes:
// it is done soonest, and in the same shape as if it were alone in the world. Otherwise the prompts
// share `chunk` tokens in the order given, in multiples of 64 except where a prompt ends.
std::vector<int> plan_step(std::span<const Demand> demands, int chunk, int batch);

}  // namespace hearth::worker
