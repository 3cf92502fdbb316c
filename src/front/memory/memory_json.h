// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "front/memory/machine_memory.h"
#include "front/memory/memory_budget.h"

namespace hearth::front {

// What GET /api/hearth/memory shows. What it points to outlives it.
struct MemoryReport {
  const MachineMemory& machine;
  const MemoryBudget& budget;
  std::vector<const MemoryBudget*> devices;
  Bytes ours_in_page_cache;  // pages of our models' files that are in memory
};

// One object: limit_bytes, limit_reason, held_bytes, promised_bytes, free_bytes, over_bytes,
// machine, cgroup (or null), pressure, held, devices, page_cache. Figures that the kernel does not
// tell are null.
std::string memory_json(const MemoryReport& report);

}  // namespace hearth::front
