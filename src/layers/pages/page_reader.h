// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"
#include "base/files.h"
#include "layers/artifact/load_set.h"
#include "layers/progress.h"

namespace hearth {

struct ReadReport {
  Bytes read;       // came from the device: what was missing before, as far as the kernel told
  Duration time{};  // spent reading, without looking for what is missing
  bool complete = false;  // false: cancelled on the way
};

// Brings what is missing of a load set into the page cache, in the set's order, passing over pieces
// of 4 MiB that are there. Progress counts missing bytes. A cancel takes effect within one piece.
// Blocks for as long as the device takes; call from a pool.
// Errors: kNotFound; kUnavailable; kCorrupt, when a file is shorter than the set says.
Result<ReadReport> read_missing(const Files& files, const Clock& clock, const LoadSet& load_set,
                                Progress& progress);

// Gives a load set's clean pages back to the kernel; the bytes that went. Pages that somebody maps
// stay, so see to it that nobody does. Writes dirty pages first. Blocks; call from a pool. Errors:
// kNotFound, kUnavailable.
Result<Bytes> drop_pages(const Files& files, const LoadSet& load_set);

}  // namespace hearth
