// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hearth::front {

// With 95 % confidence, what has come true `met` times `of` so many is at least so likely: the
// lower bound of Wilson's score interval, one-sided. 0 of nothing.
double wilson_low(int met, int of);

}  // namespace hearth::front
