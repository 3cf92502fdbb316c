// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hearth::wire {

class ObjectReader;

// A bias for all tokens of a text: only the model's vocabulary knows which these are.
struct TextBias {
  std::string text;
  double bias = 0;
};

// How tokens are chosen, with the engine's defaults where the client was silent.
struct Sampling {
  std::optional<std::uint32_t> seed;  // absent: random
  double temperature = 0.8;
  double top_p = 0.95;
  int top_k = 40;
  double min_p = 0.05;
  double typical_p = 1.0;
  double repeat_penalty = 1.0;
  double presence_penalty = 0.0;
  double frequency_penalty = 0.0;
  int repeat_last_n = 64;
  std::map<int, double> logit_bias;  // token -> bias; kBan: never
  std::vector<TextBias> text_bias = {};
  int min_tokens = 0;  // before so many, nothing ends the text by itself

  static constexpr double kBan = -1e9;  // JSON has no infinity
};

// A part of GenerateMessage, which has no payload of its own.
std::string encode(const Sampling& sampling);
Sampling read_sampling(ObjectReader& in);

}  // namespace hearth::wire
