// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "layers/artifact/load_set.h"
#include "layers/pages/device.h"
#include "layers/pages/residency.h"

namespace hearth {

// Where a load set lies, and how much of it is in memory.
struct Survey {
  struct Share {
    Device device;
    Residency residency;  // of what lies there
  };
  std::vector<Share> shares;  // one for each device, in the order in which the set touches them
  std::optional<Bytes> room;  // see memory_room()

  Bytes total() const;
  Bytes missing() const;
  // The one that most is missing from, or that most lies on; null for an empty set.
  const Share* main_share() const;
};

// Looks now; blocks for some milliseconds; call from a pool. Errors: kNotFound, kUnavailable.
Result<Survey> survey_of(const Files& files, const LoadSet& load_set);

}  // namespace hearth
