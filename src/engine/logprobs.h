// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "engine/tokens.h"

struct llama_context;

namespace hearth::engine {

class Vocabulary;

struct TokenChance {
  Token token = 0;
  double logprob = 0;
};

// How likely a model held the token that was chosen, and those that it held likeliest.
struct Logprobs {
  double chosen = 0;
  std::vector<TokenChance> top;  // falling; of equals the lower token first
};

// Natural logarithms of the softmax over all `logits`, as the model gave them: neither temperature
// nor biases, penalties or grammars count. What could not come at all is kLeastLogprob.
inline constexpr double kLeastLogprob = -9999.0;
Logprobs logprobs_of(std::span<const float> logits, Token chosen, int top);

// The same of the logits that `context` holds for batch entry `index`.
Logprobs read_logprobs(llama_context* context, int index, const Vocabulary& vocabulary,
                       Token chosen, int top);

}  // namespace hearth::engine
