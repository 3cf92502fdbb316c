// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/random.h"
#include "timeline/trace_context.h"

namespace hearth::traces {

// Never all zeroes.
template <class Id>
Id random_id(Random& random) {
  Id id;
  while (!id.is_set()) {
    for (unsigned char& byte : id.bytes) byte = static_cast<unsigned char>(random.next() >> 56);
  }
  return id;
}

}  // namespace hearth::traces
