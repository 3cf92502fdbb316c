// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/files.h"
#include "base/result.h"
#include "lab/machine/journal.h"

namespace hearth::lab {

// Does one entry of a journal. Returns what was done, for people; empty: there was nothing left to
// do. Blocks, up to some seconds for a process that does not want to end.
// Errors: kUnavailable, kInvalid (an entry that no lab has written).
Result<std::string> undo(const Files& files, const Undo& entry);

}  // namespace hearth::lab
