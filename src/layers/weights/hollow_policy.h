// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bytes.h"
#include "base/clock.h"

namespace hearth {

// What is known of a worker that holds no weights (any more).
struct HollowWorker {
  Bytes own;                 // memory that goes when it ends: anonymous, in RAM or in swap
  Bytes fresh;               // what it had before its first load; zero: not known
  bool held_device = false;  // it has had a context on a GPU
  Duration spawn{};          // what starting another takes; zero: not measured
  double uses_per_hour = 0;  // of its model, as expected
};

struct HollowTerms {
  // Beyond what it had fresh, for what a heap cannot give back in pieces.
  Bytes may_grow{std::uint64_t{24} << 20};
  Bytes most{std::uint64_t{80} << 20};  // where it is not known what it had
  // A GiB of memory is worth so many seconds of waiting saved each hour. At 0.2, a worker of 50 MB
  // that takes half a second to start is kept for a model that is asked for every other day.
  double seconds_per_gib_hour = 0.2;
};

enum class HollowFate {
  kKeep,
  kReplace,  // by a fresh one: this one holds what only its end gives back
  kEnd,      // what it saves does not pay for its memory
};

// Pure. A worker whose start was not measured is worth keeping: it was hardly ever started.
HollowFate fate_of(const HollowWorker& worker, const HollowTerms& terms);

// How often a model will be asked for, from how often it was: `uses` within `observed`, the last
// `idle` ago. One that has been left alone for longer than was usual is expected less often.
double expected_uses_per_hour(int uses, Duration observed, Duration idle);

}  // namespace hearth
