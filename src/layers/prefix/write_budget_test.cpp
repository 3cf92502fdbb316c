// SPDX-License-Identifier: Apache-2.0
#include "layers/prefix/write_budget.h"

#include <gtest/gtest.h>

#include <limits>
#include <ostream>

namespace hearth {
namespace {

constexpr std::int64_t kHourUs = std::int64_t{3600} * 1'000'000;
constexpr std::int64_t kDay = 20'000;
constexpr std::int64_t kMorning = (kDay * 24 + 8) * kHourUs;
constexpr Bytes kMost{std::numeric_limits<std::uint64_t>::max()};

struct AllowsCase {
  const char* name;
  std::uint64_t written, size, daily;
  std::int64_t hours_later;
  bool allowed;
};
void PrintTo(const AllowsCase& c, std::ostream* out) { *out << c.name; }
class Allows : public ::testing::TestWithParam<AllowsCase> {};

TEST_P(Allows, WhatIsLeftOfTheDay) {
  const AllowsCase& c = GetParam();
  WriteBudget budget;
  budget.note_written(Bytes{c.written}, kMorning);
  EXPECT_EQ(budget.allows(Bytes{c.size}, Bytes{c.daily}, kMorning + c.hours_later * kHourUs),
            c.allowed);
}

constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();
INSTANTIATE_TEST_SUITE_P(WriteBudget, Allows,
                         ::testing::Values(AllowsCase{"Room", 40, 50, 100, 0, true},
                                           AllowsCase{"TheLastByte", 40, 60, 100, 0, true},
                                           AllowsCase{"OneTooMany", 40, 61, 100, 0, false},
                                           AllowsCase{"Spent", 100, 1, 100, 0, false},
                                           AllowsCase{"SpentAlsoForNothing", 100, 0, 100, 0, false},
                                           AllowsCase{"Overspent", 150, 1, 100, 0, false},
                                           AllowsCase{"NoBudget", 0, 1, 0, 0, false},
                                           AllowsCase{"LaterThatDay", 100, 1, 100, 15, false},
                                           AllowsCase{"TheNextDay", 100, 100, 100, 16, true},
                                           AllowsCase{"TheClockSetBack", 100, 1, 100, -48, false},
                                           AllowsCase{"SizesThatWouldOverflow", 10, kHuge, kHuge, 0,
                                                      false}),
                         [](const auto& test) { return test.param.name; });

TEST(WriteBudget, AddsUpOverADay) {
  WriteBudget budget;
  budget.note_written(Bytes{10}, kMorning);
  budget.note_written(Bytes{20}, kMorning + kHourUs);
  EXPECT_EQ(budget.written(kMorning + 2 * kHourUs), Bytes{30});
  budget.note_written(Bytes{5}, kMorning + 24 * kHourUs);
  EXPECT_EQ(budget.state(), (WriteBudget::State{kDay + 1, Bytes{5}}));
}

TEST(WriteBudget, GoesOnWhereItWasKept) {
  WriteBudget before;
  before.note_written(Bytes{70}, kMorning);
  const WriteBudget after{before.state()};
  EXPECT_EQ(after.written(kMorning), Bytes{70});
  EXPECT_EQ(after.written(kMorning + 24 * kHourUs), Bytes{});
}

TEST(WriteBudget, CountsOnOnADayThatAClockSetBackRepeats) {
  WriteBudget budget;
  budget.note_written(Bytes{70}, kMorning);
  budget.note_written(Bytes{20}, kMorning - 48 * kHourUs);
  EXPECT_EQ(budget.state(), (WriteBudget::State{kDay, Bytes{90}}));
}

TEST(WriteBudget, DoesNotOverflow) {
  WriteBudget budget;
  budget.note_written(kMost, kMorning);
  budget.note_written(kMost, kMorning);
  EXPECT_EQ(budget.written(kMorning), kMost);
}

}  // namespace
}  // namespace hearth
