// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"

namespace hearth::worker {

// How many prompt tokens may go into a step that others wait for: as many as take a quarter of a
// second (and at most a quarter more) by what was measured, in whole multiples of 64, at least 64.
// Not thread-safe.
class ChunkSize {
 public:
  int tokens() const;

  // A step with `tokens` prompt tokens took `took`. Small steps say little and are ignored.
  void measured(int tokens, Duration took);

 private:
  double tokens_per_second_ = 0.0;  // 0: nothing measured yet
};

}  // namespace hearth::worker
