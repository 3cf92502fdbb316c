// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/App.hpp>

namespace hearth::cli {

// `hearth lab ...`: experiments.
void add_lab(CLI::App& app);

}  // namespace hearth::cli
