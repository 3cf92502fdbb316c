// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <string>

#include "cli/program.h"
#include "cli/terminal.h"

namespace hearth::cli {

// Adds `hearth modules list|show|set|rm` to the command line.
void add_modules(Program& program);

// The list as people see it: a row for each model that a module is kept warm for.
std::string modules_table(const boost::json::array& modules, const OutputStyle& style);

}  // namespace hearth::cli
