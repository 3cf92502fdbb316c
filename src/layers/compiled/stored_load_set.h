// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "layers/artifact/load_set.h"
#include "repack/repack_file.h"

namespace hearth {

// What a load touches that uses a stored repack: the model's files without the bytes that it
// replaces, then the stored file at `path`, whole. Entries that lie elsewhere than in `model`
// replace nothing. Pure.
LoadSet load_set_with(LoadSet model, const repack::Table& stored, std::string path);

}  // namespace hearth
