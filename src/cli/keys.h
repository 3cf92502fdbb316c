// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/program.h"

namespace hearth::cli {

// Adds `hearth keys add|list|rm` to the command line. They ask the server; with --data they work on
// the keys of a data directory that no server uses, which is the way back in when the admin's key
// is lost.
void add_keys(Program& program);

}  // namespace hearth::cli
