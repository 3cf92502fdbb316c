// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "worker/load_flags.h"

namespace hearth::worker {

// Called now and then from a reading thread, never from two at once.
using ReadProgress = std::function<void(Bytes done, Bytes total)>;

// Brings those pages of the files into the page cache that are not there, block by block in file
// order, on two threads of low priority. What the kernel does not tell counts as missing: reading
// it again costs a copy. While the load is idle so is its reading. Returns early, without an error,
// once it is given up. Errors: kUnavailable (an I/O error, with the file's path).
Result<> read_missing_pages(const std::vector<std::string>& paths, const LoadFlags& flags,
                            const ReadProgress& progress);

}  // namespace hearth::worker
