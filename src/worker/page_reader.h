// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace hearth::worker {

// Called now and then from a reading thread, never from two at once.
using ReadProgress = std::function<void(Bytes done, Bytes total)>;

// Brings those pages of the files into the page cache that are not there, block by block in file
// order, on two threads of low priority. What the kernel does not tell counts as missing: reading
// it again costs a copy. Returns early, without an error, once `stop` is set. Errors: kUnavailable
// (an I/O error, with the file's path).
Result<> read_missing_pages(const std::vector<std::string>& paths, const std::atomic<bool>& stop,
                            const ReadProgress& progress);

}  // namespace hearth::worker
