// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layers/artifact/fetch_plan.h"
#include "layers/artifact/source/model_source.h"

namespace hearth {

// One file of which nothing is known, or, if its name says that it is one of a set, the whole set.
// Errors: kInvalid, for a set of nonsensical size.
Result<FetchPlan> url_plan(const ModelSource& source);

}  // namespace hearth
