// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"

namespace hearth::front {

// What memory is held for.
enum class HeldFor { kWeights, kRepacked, kKv, kCompute, kHollow, kPrefix, kPins, kOther };

// "weights", "repacked", "kv", "compute", "hollow", "prefix", "pins", "other"
std::string_view name_of(HeldFor what);

// Memory that somebody really has, as it was last measured. Each byte belongs to one of these: of
// pinned pages only those that no resident model maps, of a worker's memory the rest as kOther.
struct Held {
  HeldFor what = HeldFor::kOther;
  std::string model{};  // the artifact's id; empty: nobody's in particular
  std::string name{};   // for people; empty: the id
  Bytes bytes;
  // Clean page cache: the kernel counts it as available, and takes it when it wants to. Still held,
  // as the model is warm only with it. Never pinned pages, whoever maps them: the kernel does not
  // count those as available.
  bool reclaimable = false;

  const std::string& shown() const { return name.empty() ? model : name; }
};

}  // namespace hearth::front
