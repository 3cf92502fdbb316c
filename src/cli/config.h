// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/program.h"

namespace hearth::cli {

// Adds `hearth config` to the command line: what a server's options are and where they come from;
// `check` looks at a file without a server, `reload` makes the server read its own again.
void add_config(Program& program);

}  // namespace hearth::cli
