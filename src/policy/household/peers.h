// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/household/strategy.h"

namespace hearth::household {

// What others do, all of it with whole models, loaded when somebody asks:
//   ollama          unloads after five minutes; under want of memory the least recently used first
//   ttl20           likewise after twenty minutes
//   lru             no timer
//   llama-server    its router: no timer, four models at most, the least recently used goes
//   llama-swap      one model at a time
//   llama-swap-sets as somebody would write them: the smallest models stay, as many as fit beside
//   the
//                   largest; of the others one at a time
//   gdsf            greedy dual: by frequency x cost / size, with a clock that ages
//   histogram       a timer for each model from its own pauses: 1.1 x their 99th percentile, or two
//                   hours where they scatter; see the hybrid histogram of serverless platforms
//   clairvoyant     knows the trace: gives up the largest distance to the next use x size
std::vector<std::string_view> peer_names();

// nullptr for a name that is not in the list.
std::unique_ptr<Strategy> make_peer(std::string_view name, const Trace& trace,
                                    const Machine& machine);

}  // namespace hearth::household
