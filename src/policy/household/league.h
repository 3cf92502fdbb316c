// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "policy/household/replay.h"

namespace hearth::household {

// One trace under all rules: the peers' as peer_names() lists them, "optimum" where it can be
// worked out, "hearth-unpredicted" and "hearth", in that order. A fortnight takes a fraction of a
// second.
std::vector<Score> play_all(const Trace& trace, const Machine& machine);

}  // namespace hearth::household
