// SPDX-License-Identifier: Apache-2.0
#include "worker/cell_plan.h"

#include <gtest/gtest.h>

#include <string>

namespace hearth::worker {
namespace {

struct PlanCase {
  const char* name;
  int present, needed;
  std::vector<IdleCells> idle;
  std::vector<int> evict;
  int cells;
};
class Cells : public testing::TestWithParam<PlanCase> {};

TEST_P(Cells, Planned) {
  constexpr CellLimits kLimits{8192, 4};
  const CellPlan plan = plan_cells(kLimits, GetParam().present, GetParam().needed, GetParam().idle);
  EXPECT_EQ(plan.evict, GetParam().evict);
  EXPECT_EQ(plan.cells, GetParam().cells);
}

INSTANTIATE_TEST_SUITE_P(
    CellPlan, Cells,
    testing::Values(
        PlanCase{"Fits", 4096, 4000, {{1, 96, 1}}, {}, 4096},
        PlanCase{"GrowsToKeepIdleOnes", 4096, 4000, {{1, 97, 1}}, {}, 8192},
        PlanCase{
            "EvictsTheOldestPastOneContext", 8192, 8000, {{1, 100, 9}, {2, 150, 3}}, {2}, 8192},
        PlanCase{"EvictsAllButStillGrows", 8192, 9000, {{1, 100, 9}, {2, 150, 3}}, {2, 1}, 16384},
        PlanCase{"EmptySlotsAreNoGain", 8192, 8000, {{0, 0, 0}, {1, 300, 9}}, {1}, 8192},
        PlanCase{"StopsAtTheMost", 16384, 32768, {}, {}, 32768},
        PlanCase{"SeveralDoublings", 4096, 20000, {}, {}, 32768}),
    [](const auto& test) { return std::string{test.param.name}; });

TEST(FirstCells, AreFewUnlessAPromptWaits) {
  EXPECT_EQ(first_cells({8192, 4}, 0), 1024);
  EXPECT_EQ(first_cells({512, 4}, 0), 512);
  EXPECT_EQ(first_cells({512, 4}, 512), 512);
  EXPECT_EQ(first_cells({8192, 4}, 5000), 8192);
  EXPECT_EQ(first_cells({6000, 1}, 5900), 6000);
}

}  // namespace
}  // namespace hearth::worker
