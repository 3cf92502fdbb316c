// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"

namespace hearth::api {

// Refuses what the engine's reader of GBNF refuses, with the line at fault, and what would keep it
// busy for minutes or bring it down: ranges that end before they begin, deep nesting, repetitions
// within repetitions, long rows of parts that may all be empty. What names tokens of a vocabulary
// is left to the engine. Errors: kInvalid.
Result<> check_grammar(std::string_view grammar);

}  // namespace hearth::api
