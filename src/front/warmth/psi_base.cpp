// SPDX-License-Identifier: Apache-2.0
#include "front/warmth/psi_base.h"

#include <algorithm>
#include <cmath>

namespace hearth::front {
namespace {

// Long against the five minutes that the figure itself is a mean of.
constexpr Duration kWhile = std::chrono::minutes{30};

}  // namespace

double PsiBase::rise(double avg300, Held held, Duration now) {
  if (!base_) base_ = avg300;
  if (held == Held::kNothing && seen_ && now > *seen_) {
    const double passed =
        static_cast<double>((now - *seen_).count()) / static_cast<double>(Duration{kWhile}.count());
    *base_ += (avg300 - *base_) * -std::expm1(-passed);
  }
  seen_ = now;
  return std::max(0.0, avg300 - *base_);
}

}  // namespace hearth::front
