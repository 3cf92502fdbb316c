// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "cli/model_view.h"
#include "cli/session.h"

// The verbs about memory: who has it, who gave it up, and what was promised. Each prints its
// result, or the API's JSON with --json, and returns the exit code of the process.
namespace hearth::cli {

int show_memory(const Session& session);

// The last `most` moves; with --json all that the server knows.
int list_moves(const Session& session, std::size_t most);

int show_levels(const Session& session);

// See claim_notes(). Empty where the server does not say: it is older, or the key may not ask.
ModelNotes broken_claims(const Session& session);

}  // namespace hearth::cli
