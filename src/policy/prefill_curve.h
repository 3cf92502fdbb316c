// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/bytes.h"

namespace hearth {

// One prompt that was evaluated alone, with its weights in memory.
struct PrefillSample {
  int tokens = 0;
  double seconds = 0;
};

// How long a model takes to evaluate so many tokens. Any first token goes through all weights, and
// each further one costs arithmetic in proportion to them: this shape is guessed from the model's
// size, and then stretched to what was measured, mostly by prompts of about the same length. Pure.
class PrefillCurve {
 public:
  explicit PrefillCurve(Bytes weights) : weights_{weights} {}

  // Newest last. Own samples make those of others superfluous, of which only the newest count.
  void learn(const std::vector<PrefillSample>& samples);
  void learn_from_other(Bytes weights, const std::vector<PrefillSample>& samples);

  // Zero for no tokens.
  double seconds(int tokens) const;
  bool measured() const { return own_; }            // on this model
  bool known() const { return !stretch_.empty(); }  // on any model

  static double guess(Bytes weights, int tokens);

 private:
  struct Stretch {
    int tokens = 0;
    double ratio = 1;  // measured / guessed
    double weight = 1;
  };
  void add(Bytes weights, const std::vector<PrefillSample>& samples);

  Bytes weights_;
  std::vector<Stretch> stretch_;
  bool own_ = false;
};

}  // namespace hearth
