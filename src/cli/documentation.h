// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/App.hpp>

namespace hearth::cli {

// Adds the hidden `hearth docs PAGE`, which prints a page of docs/ with its tables written anew;
// `make docs` is its user.
void add_documentation(CLI::App& app);

}  // namespace hearth::cli
