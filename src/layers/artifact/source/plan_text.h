// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "layers/artifact/fetch_plan.h"

namespace hearth {

// More than this is no text that belongs to a model.
inline constexpr Bytes kMaxPlanText{4u << 20};

// Whether texts of this kind are understood: "template", "system", "params", "license", "messages".
bool is_plan_text(std::string_view kind);

// Takes `text`, fetched from `file` (one of plan.texts, whose name is its kind), into the plan's
// settings. Errors: kCorrupt, when it is not what was promised or makes no sense.
Result<> apply_text(FetchPlan& plan, const PlannedFile& file, std::string_view text);

}  // namespace hearth
