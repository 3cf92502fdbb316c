// SPDX-License-Identifier: Apache-2.0
#include "front/memory/memory_json.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace hearth::front {
namespace {

using namespace literals;

TEST(MemoryJson, ShowsTheWholeLedger) {
  MachineMemory machine;
  machine.total = 16_GiB;
  machine.available = 10_GiB;
  machine.of_files = 3_GiB;
  machine.swap_used = 1_MiB;
  machine.memory_pressure.some_avg10 = 1.5;
  machine.cgroup = CgroupMemory{"/sys/fs/cgroup/hearth", 2, 8_GiB, 3_GiB, 2_GiB, 2.5, {}};
  MemoryBudget budget{{"memory", 4_GiB, 1_GiB}};
  budget.set_held({{HeldFor::kWeights, "sha:1", "smol", 1_GiB, true},
                   {HeldFor::kPrefix, "", "", 1_MiB, false}});
  budget.set_reading(machine);
  const auto load = budget.reserve("sha:2", 1_GiB);
  ASSERT_TRUE(load);
  MemoryBudget gpu = MemoryBudget::of_device("CUDA0", 2_GiB);
  const std::string text = memory_json({machine, budget, {&gpu}, 2_GiB});
  EXPECT_EQ(boost::json::parse(text), boost::json::parse(R"({
    "limit_bytes": 4294967296, "limit_reason": "as configured",
    "held_bytes": 1074790400, "promised_bytes": 1073741824, "free_bytes": 2146435072,
    "over_bytes": 0,
    "machine": {"total": 17179869184, "available": 10737418240, "reserve": 1073741824,
                "swap_used": 1048576},
    "cgroup": {"path": "/sys/fs/cgroup/hearth", "version": 2, "limit": 8589934592,
               "used": 3221225472, "unreclaimable": 2147483648},
    "pressure": {"memory_some_avg10": 2.5, "cpu_some_avg10": null},
    "held": [{"what": "weights", "model": "smol", "bytes": 1073741824},
             {"what": "prefix", "model": null, "bytes": 1048576}],
    "devices": [{"name": "CUDA0", "limit": 2147483648, "held": 0}],
    "page_cache": {"ours": 2147483648, "of_files": 3221225472}})"));
}

TEST(MemoryJson, WhatIsNotKnownIsNull) {
  const MachineMemory machine;
  const MemoryBudget budget{{}};
  const auto json = boost::json::parse(memory_json({machine, budget, {}, {}}));
  EXPECT_TRUE(json.at("limit_bytes").is_null());
  EXPECT_TRUE(json.at("free_bytes").is_null());
  EXPECT_TRUE(json.at("machine").at("total").is_null());
  EXPECT_TRUE(json.at("cgroup").is_null());
  EXPECT_TRUE(json.at("pressure").at("memory_some_avg10").is_null());
  EXPECT_TRUE(json.at("page_cache").at("of_files").is_null());
  EXPECT_TRUE(json.at("devices").as_array().empty());
}

}  // namespace
}  // namespace hearth::front
