// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace hearth::cli {

// A count of bytes as people type it: "4096", "500M", "2GiB", "1.5 g". K, M, G, T and KiB … TiB are
// powers of 1024; kB, MB, GB, TB are powers of 1000. Letters of either case. Errors: kInvalid.
Result<Bytes> parse_size(std::string_view text);

}  // namespace hearth::cli
