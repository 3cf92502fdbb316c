// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/App.hpp>

namespace hearth::cli {

// Verbs that Ollama has and Hearth does not: hidden, and each says what to do instead and fails.
void add_absent(CLI::App& app);

}  // namespace hearth::cli
