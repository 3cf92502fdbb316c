// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/session.h"

namespace hearth::cli {

// What is kept of prompts, or the API's JSON with --json. Returns the exit code of the process.
int show_prefix(const Session& session);

}  // namespace hearth::cli
