// SPDX-License-Identifier: Apache-2.0
#include "front/memory/memory_gauges.h"

#include <gtest/gtest.h>

namespace hearth::front {
namespace {

using namespace literals;

TEST(MemoryGauges, SayWhoHoldsWhat) {
  MemoryBudget budget{{.configured = 8_GiB, .reserve = Bytes{}}};
  budget.set_held({{.what = HeldFor::kWeights, .model = "a1", .name = "tiny", .bytes = 2_GiB},
                   {.what = HeldFor::kPrefix, .bytes = 1_GiB}});
  MemoryRoom room;
  room.total = 32_GiB;
  room.available = 20_GiB;
  budget.set_reading(room);
  const Result<Reservation> promise = budget.reserve("a2", 1_GiB);
  ASSERT_TRUE(promise);
  const MemoryFigures figures = figures_of("machine", budget);
  EXPECT_EQ(figures.memory, "machine");
  EXPECT_EQ(figures.limit, 8_GiB);
  EXPECT_EQ(figures.promised, 1_GiB);
  ASSERT_EQ(figures.held.size(), 2U);
  EXPECT_EQ(figures.held[0].what, "weights");
  EXPECT_EQ(figures.held[0].model, "tiny");
  EXPECT_EQ(figures.held[0].bytes, 2_GiB);
  EXPECT_EQ(figures.held[1].model, "");
}

TEST(MemoryGauges, ABudgetThatKnowsNothingHasNoLimit) {
  EXPECT_EQ(figures_of("devices", MemoryBudget::of_device("GPU", Bytes{})).limit, std::nullopt);
}

}  // namespace
}  // namespace hearth::front
