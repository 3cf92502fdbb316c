// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lab/trial.h"

namespace hearth::lab {

// One line for each row under a line of names; a column for each stage and each extra that any row
// has. Quoted as RFC 4180 says; a text that a spreadsheet would take for a formula gets a ' first.
std::string csv_of(const std::vector<Trial>& rows);

}  // namespace hearth::lab
