// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/session.h"

// What is kept of prompts, and what the server found about them. Each prints its result, or the
// API's JSON with --json, and returns the exit code of the process.
namespace hearth::cli {

int show_prefix(const Session& session);
int show_doctor(const Session& session);

}  // namespace hearth::cli
