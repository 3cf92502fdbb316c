// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "base/bytes.h"

namespace hearth::front {

// One layer of one model, one level down, to give memory back.
struct Move {
  enum class What {
    kPrefixes,  // prompt state in memory: to disk, or given up
    kWeights,   // resident: the worker becomes hollow, and what its cells held is kept as far as
                // the prefix layer does
    kWorker,    // a hollow worker ends
    kPages,     // pinned pages are unlocked
  };
  What what = What::kWeights;
  std::string artifact;  // whose
  Bytes bytes;           // that it gives back, about
  // Whether whoever it is made for still wants it; empty: it is not made for a load.
  std::function<bool()> wanted = {};
};

}  // namespace hearth::front
