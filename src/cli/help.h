// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace hearth::cli {

// Adds `hearth help [VERB]`.
void add_help(CLI::App& app);

// After a command line whose verb is unknown: what to say, with the nearest verb where one is near.
// Empty when something else was wrong.
std::string unknown_verb(const CLI::App& app);

}  // namespace hearth::cli
