// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <string>

#include "cli/model_view.h"
#include "cli/terminal.h"

// What GET /api/hearth/levels says of models that have to answer in time after a pause: what was
// asked for, whether it is so, and what stands in the way. Pure.
namespace hearth::cli {

// A table of all claims, and for each in sentences why it stands as it does.
std::string claims_view(const boost::json::object& levels, std::int64_t now_us,
                        const OutputStyle& style);

// A sentence for each model whose claim was missed, cannot be met or was given up, with the bound
// of its start. None for the others.
ModelNotes claim_notes(const boost::json::object& levels);

}  // namespace hearth::cli
