// SPDX-License-Identifier: Apache-2.0
#include "cli/modules.h"

#include <gtest/gtest.h>

namespace hearth::cli {
namespace {

TEST(ModulesTable, HasARowForEachModel) {
  const boost::json::array modules{
      {{"name", "house"},
       {"version", "3-01234567"},
       {"source", "configuration"},
       {"bytes", 2048},
       {"models",
        {{{"model", "smol:latest"}, {"tokens", 1412}, {"level", "memory"}},
         {{"model", "b:latest"}, {"tokens", nullptr}, {"level", nullptr}}}}},
      {{"name", "tools"}, {"version", nullptr}, {"broken", "gone"}, {"source", "api"}}};
  EXPECT_EQ(modules_table(modules, {}),
            "NAME\tVERSION\tSIZE\tFROM\tMODEL\tTOKENS\tLEVEL\n"
            "house\t3-01234567\t2.00 KiB\tconfiguration\tsmol:latest\t1,412\tmemory\n"
            "house\t3-01234567\t2.00 KiB\tconfiguration\tb:latest\t-\t-\n"
            "tools\tbroken\t0 B\tapi\t-\t-\t-\n");
}

}  // namespace
}  // namespace hearth::cli
