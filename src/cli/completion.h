// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "cli/command_tree.h"

namespace hearth::cli {

// Scripts that make a shell complete the command line: verbs, options, allowed words and files from
// the tree, names of models by asking the server as the key is pressed. A server that does not
// answer costs a moment and nothing else. They need nothing but the shell.
std::string bash_completion(const Command& root);
std::string zsh_completion(const Command& root);
std::string fish_completion(const Command& root);

// Adds `hearth completion SHELL`, which knows every verb that `app` has when it runs.
void add_completion(CLI::App& app);

}  // namespace hearth::cli
