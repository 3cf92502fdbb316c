// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hearth::wire {

class ObjectReader;

// A token, and how likely the model held it.
struct TokenChance {
  int token = 0;
  std::string bytes;   // its text, control tokens included; possibly a part of a character
  double logprob = 0;  // natural logarithm of the softmax over all logits, before any sampling
};

// What was known where one token of a reply was chosen.
struct TokenLogprob {
  TokenChance chosen;
  std::vector<TokenChance> top;  // the likeliest first; as many as were asked for
};

// Parts of DeltaMessage, which have no payload of their own.
std::string encode(const std::vector<TokenLogprob>& tokens);
std::vector<TokenLogprob> read_logprobs(ObjectReader& in, std::string_view name);

}  // namespace hearth::wire
