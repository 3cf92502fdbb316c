// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "front/memory/memory_budget.h"
#include "timeline/memory_figures.h"

namespace hearth::front {

// What the metrics show of a budget. `memory` is the name that it has there.
MemoryFigures figures_of(std::string memory, const MemoryBudget& budget);

}  // namespace hearth::front
