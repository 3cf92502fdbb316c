// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/chat.h"
#include "cli/session.h"

namespace hearth::cli {

// Asks a model: `prompt` (its words joined by spaces) together with what is piped in, or without
// any of both a conversation in the terminal. With --json one whole reply as the API gives it.
// Returns the process's exit code.
int run_model(const Session& session, const ChatOptions& options,
              const std::vector<std::string>& prompt);

}  // namespace hearth::cli
