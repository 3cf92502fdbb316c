// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <string>

#include "cli/terminal.h"

namespace hearth::cli {

// GET /api/hearth/memory as text: the budget and the machine as bars (on a terminal), what each
// kind and each model holds, and what bounds it. Pure.
std::string memory_view(const boost::json::object& memory, const OutputStyle& style);

// Of the same answer only the budget: what is held and free, its bar, and what the bar's signs
// stand for. Pure.
std::string budget_view(const boost::json::object& memory, const OutputStyle& style);

}  // namespace hearth::cli
