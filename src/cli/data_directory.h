// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace hearth::cli {

// Makes the data directory (mode 0700) where it is missing and locks it for this process: two
// servers on one catalogue would each believe that they own it. The lock goes with the descriptor.
// Errors: kConflict, when another server holds it (naming its pid); kUnavailable.
Result<Fd> claim_data_directory(const std::string& path);

}  // namespace hearth::cli
