// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "policy/arrivals.h"

namespace hearth {

using Arrivals = std::map<std::string, ArrivalModel>;  // by model

// All that was learnt of all models' requests, as JSON text. It tells when people are at home, so
// it is to be kept as prompts are: mode 0600.
std::string to_json(const Arrivals& arrivals);

// Errors: kCorrupt, for whatever to_json() does not write: text of another version, negative or
// endless counts, arrivals out of order, more than kMaxArrivalModels models. Nothing is taken over
// then.
Result<Arrivals> arrivals_from_json(std::string_view text);

inline constexpr std::size_t kMaxArrivalModels = 256;

}  // namespace hearth
