// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "layers/artifact/load_set.h"

namespace hearth {

// How much of a range is in memory, in whole pages and never more than its size.
using CountResident = std::function<Bytes(Range)>;

// The parts of a range that are not in memory, ascending, not touching each other. `range` is asked
// about in pieces of `piece`; one that is partly there is halved until its parts are wholly there,
// wholly missing, or no larger than `grain`, which then count as missing: the kernel does not read
// again what it has. Offsets lie on multiples of `grain` from the file's beginning, but for the
// range's own ends. `grain` divides `piece`.
std::vector<Range> missing_runs(Range range, Bytes piece, Bytes grain,
                                const CountResident& resident);

// `runs` in blocks of at most `block`, each within one run.
std::vector<Range> blocks_of(const std::vector<Range>& runs, Bytes block);

}  // namespace hearth
