// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "policy/household/replay.h"

namespace hearth::household {

// The least cold seconds that whole models, loaded when somebody asks, can come to: over all ways
// of choosing what to give up, knowing the whole trace. A bound rather than a strategy: it may give
// up even what is busy. Exact, by dynamic programming over the sets of resident models.
//
// Of its Score only cold_starts, cold_seconds and demand_gb are set. nullopt for a trace of more
// than kMostModels models, or with one that does not fit.
std::optional<Score> optimum(const Trace& trace, const Machine& machine);

inline constexpr std::size_t kMostModels = 10;

}  // namespace hearth::household
