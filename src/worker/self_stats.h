// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace hearth::worker {

// The kernel's accounting of this process.
struct Reads {
  Bytes from_device;  // /proc/self/io read_bytes
  std::int64_t major_faults = 0;
};
Reads reads_so_far();

struct Resident {
  Bytes all;        // VmRSS
  Bytes anonymous;  // RssAnon
  Bytes swapped;    // VmSwap
  Bytes mapped;     // RssFile
};
Resident resident_now();

}  // namespace hearth::worker
