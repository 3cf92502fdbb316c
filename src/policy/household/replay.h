// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "policy/household/strategy.h"

namespace hearth::household {

// What a household met under one strategy.
struct Score {
  std::string strategy;
  int cold_starts = 0;      // requests that had something read or set up for them
  double cold_seconds = 0;  // that this took: missing bytes / rate, and the set-up
  double p99_wait_s = 0;    // of all requests, until the weights are there, with queueing
  double demand_gb = 0;     // read while somebody waited
  double prewarm_gb = 0;    // read ahead
  double held_gb_hours = 0;
  // Of it, what the kernel could not take back at once: whole models; of a strategy with hollow
  // workers these, and the models in use.
  double kept_gb_hours = 0;
  int refused = 0;                      // requests for models that do not fit at all
  std::vector<double> cold_seconds_of;  // by model, as in the trace
};

// Replays a trace from an empty memory. A load has the device for itself, one after another in the
// order they came; requests that come while their model loads wait for it with the first; no model
// is given up while it loads or serves, and a request that cannot fit for that reason waits. Pure,
// deterministic.
Score replay(const Trace& trace, const Machine& machine, Strategy& strategy);

}  // namespace hearth::household
