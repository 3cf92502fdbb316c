// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "front/service.h"
#include "layers/artifact/blob_store.h"
#include "layers/artifact/catalogue.h"
#include "layers/artifact/verify/hash_notes.h"

namespace hearth::front {

// Finds what nothing needs any more, and takes it away if asked to. Blocks.
struct PruneWorld {
  const Files& files;
  const BlobStore& store;
  const HashNotes& notes;
  std::int64_t now_us = 0;  // wall clock
};

// A blob that came within this time may be about to get its name.
inline constexpr std::chrono::hours kPruneGrace{1};

// What stopped pulls have brought. `under_way`: keys of those that are not.
Result<std::vector<Prunable>> prunable_parts(const PruneWorld& world,
                                             const std::set<std::string>& under_way);

// Blobs that no model uses, and notes about files that are no more. On the catalogue's thread: so
// what is in use cannot change between the look and the deed. What could not be deleted is not in
// the list.
Result<std::vector<Prunable>> prune_store(const PruneWorld& world, Catalogue& catalogue,
                                          Service::Prune what);

}  // namespace hearth::front
