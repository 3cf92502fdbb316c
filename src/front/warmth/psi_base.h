// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/clock.h"

namespace hearth::front {

// How much memory's pressure has risen since one model is held: PSI's "some avg300" against its
// mean of the last while in which the model held nothing. Before there is one, the first value
// stands for it. Pure.
class PsiBase {
 public:
  PsiBase() = default;
  explicit PsiBase(std::optional<double> base) : base_{base} {}

  enum class Held { kNothing, kSomething };
  // Percent points; not below 0.
  double rise(double avg300, Held held, Duration now);

  const std::optional<double>& base() const { return base_; }

 private:
  std::optional<double> base_;
  std::optional<Duration> seen_;
};

}  // namespace hearth::front
