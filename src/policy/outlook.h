// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/clock.h"
#include "policy/prefill_curve.h"
#include "policy/start_state.h"

namespace hearth {

struct Forecast {
  Duration time{};
  Duration low{}, high{};  // eight of ten are expected between them
  bool known = false;  // false: a part of it is a guess, since nothing like it was measured here
};

// What the way to a first token is made of, in seconds.
struct StartParts {
  double spawn = 0;
  double setup = 0;  // mapping, context, first touches: what is neither reading nor arithmetic
  double read = 0;   // or, of a load under way, what remains
  double repack = 0;
  double overhead = 0;  // of any request: hand-over, tokenizing, the first sample
  int layers = 1;       // see StartState
  int beside = 0;

  // Reading and evaluation side by side: the longer one, and of the shorter one the part that the
  // pipeline cannot hide.
  double seconds(double prefill) const;
};

// A forecast as it stood at one moment, for prompts of any length: taken when a request comes, and
// compared with what became of it. A value, so what is learnt meanwhile does not change it.
struct Outlook {
  std::string model;
  StartClass start_class = StartClass::kWarm;
  StartParts parts;
  PrefillCurve prefill{Bytes{}};
  double ratio = 1;          // what this class last took over what its parts say
  double low = 1, high = 1;  // factors of the interval
  bool known = false;
  double setup_guess = 0;  // before anything was measured, to compare models by
  Bytes weights{};
  Duration ahead{};  // until those who wait are served; in at(), but not in alone()

  // Until the first token of a prompt with so many tokens to evaluate; of none: until the weights
  // are there.
  Forecast at(int fresh_tokens) const;
  Forecast alone(int fresh_tokens) const;
};

}  // namespace hearth
