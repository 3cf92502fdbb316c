// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/App.hpp>

namespace hearth::cli {

// Each adds a verb to `hearth lab`. `app` is the whole command line: its --host and --key say which
// server knows a model's name.
void add_lab_classes(CLI::App& lab, const CLI::App& app);
void add_lab_idle(CLI::App& lab, const CLI::App& app);
void add_lab_ablate(CLI::App& lab, const CLI::App& app);
void add_lab_mix(CLI::App& lab, const CLI::App& app);
void add_lab_undo(CLI::App& lab);

}  // namespace hearth::cli
