// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "front/pulls/pull.h"
#include "layers/artifact/catalogue.h"

namespace hearth::front {

// On the catalogue's thread, one at a time: so what is in use cannot change between the look and
// the deed. Both block.

// Moves the files into the store and makes the names stand for them, in place of what they stood
// for. Absent models of the same content are back with it, each with the settings of its name.
// Errors: kNotFound, when a file that was in the store has gone; kInvalid (a name); those of
// Catalogue::install(). Where it is the files that are wrong, nothing new stays in the store;
// otherwise they stay there for the next try.
Result<> install_pulled(Catalogue& catalogue, const BlobStore& store, PulledModel model);

// Deletes those of these files that are our own and that no model uses any more. Returns what that
// gave back.
Result<Bytes> drop_unused(Catalogue& catalogue, const BlobStore& store,
                          const std::vector<std::string>& paths);

// What fetches exactly these files again. Errors: kUnsupported, with the reason why nothing can.
Result<FetchPlan> plan_again(const NamedModel& model);

}  // namespace hearth::front
