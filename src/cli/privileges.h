// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace hearth::cli {

// What the system lets a process do beyond what every program may.
struct Privileges {
  std::optional<Bytes> lockable{};  // memory that may be locked; none: all of it
  int best_nice = 19;               // the first place that may be taken, from -20 to 19
};

// Those of this process and what it starts, by its limits and capabilities.
Privileges own_privileges();

// One thing that cannot be done, in words for a log.
struct Restriction {
  std::string what;
  std::string instead;
  std::string allowed_by;
};

// Empty for root.
std::vector<Restriction> restrictions_of(const Privileges& privileges);

}  // namespace hearth::cli
