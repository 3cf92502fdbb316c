// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

#include "base/clock.h"
#include "base/files.h"
#include "layers/artifact/load_set.h"
#include "layers/pages/read_choice.h"
#include "layers/progress.h"

namespace hearth {

struct ReadReport {
  Bytes missing;          // before, as far as the kernel told
  Bytes read;             // of these, what came from the device
  Bytes left_out;         // of these, what memory has no room for beside the rest of the set
  Duration time{};        // spent reading, without looking for what is missing
  bool complete = false;  // false: cancelled on the way
};

struct ReadWorld {
  const Files& files;
  const Clock& clock;
  // What memory could take, see memory_room(). Empty, or nullopt: as much as is asked for.
  std::function<std::optional<Bytes>()> room = {};
  Bytes pinned = {};  // of the set: no part of the room
};

// Brings what is missing of a load set into the page cache, by reads of `style` that pass over what
// is there and never go beyond what is missing, whatever the kernel would read ahead. Only so much
// is read as fits beside what is there: pages of the set are not pushed out by others of the set.
// Progress counts missing bytes. A cancel takes effect within a block. Blocks for as long as the
// device takes; call from a pool.
// Errors: kNotFound; kUnavailable; kCorrupt, when a file is shorter than the set says.
Result<ReadReport> read_missing(const ReadWorld& world, const LoadSet& load_set,
                                const ReadStyle& style, Progress& progress);

// Gives a load set's clean pages back to the kernel; the bytes that went. Pages that somebody maps
// stay, so see to it that nobody does. Writes dirty pages first. Blocks; call from a pool. Errors:
// kNotFound, kUnavailable.
Result<Bytes> drop_pages(const Files& files, const LoadSet& load_set);

}  // namespace hearth
