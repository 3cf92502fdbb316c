// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/App.hpp>

namespace hearth::cli {

// `hearth lab report DIR` and `hearth lab compare BEFORE AFTER`, of runs that were kept.
void add_lab_report(CLI::App& lab);

}  // namespace hearth::cli
