// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "policy/predictor.h"

namespace hearth {

// All that a predictor has learnt, as JSON text.
std::string to_json(const Predictor& predictor);

// Errors: kCorrupt, for whatever to_json() does not write: text of another version, numbers that
// are no times. Nothing is taken over then.
Result<Predictor> predictor_from_json(std::string_view text);

}  // namespace hearth
