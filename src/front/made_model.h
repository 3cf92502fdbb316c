// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "front/transfer.h"
#include "layers/artifact/blob_store.h"
#include "layers/artifact/catalogue.h"

namespace hearth::front {

// What a model is made of, with all names and blobs looked up.
struct MakingOf {
  ModelName name;
  std::optional<ModelName> from;
  std::string path;
  std::vector<BlobStore::Blob> files;  // in the order of their set
  std::vector<std::string> adapters;   // paths
};

// Checks what the request names, and finds its blobs. Blocks. Errors: kInvalid, kNotFound, with the
// field.
Result<MakingOf> making_of(const CreateRequest& request, const BlobStore& store);

// Makes it, in place of what the name stood for; after an error that still holds. Blocks; on the
// catalogue's thread. Errors: those of merged_settings() and of the catalogue.
Result<NamedModel> make_model(Catalogue& catalogue, const MakingOf& making,
                              const CreateRequest& request);

// Takes away what a make_model() that was cut short by a crash left in the catalogue. For the
// start. Blocks. Errors: the database's.
Result<> forget_half_made(Catalogue& catalogue);

}  // namespace hearth::front
