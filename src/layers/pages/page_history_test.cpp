// SPDX-License-Identifier: Apache-2.0
#include "layers/pages/page_history.h"

#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <vector>

namespace hearth {
namespace {

using namespace literals;
using enum PagesCause;

// Of 100 MiB. "Dropped" is told to the history before the measurement.
struct Step {
  Bytes resident;
  Bytes evicted;
  PagesCause cause;
  enum class Before { kNothing, kDropped, kReplaced, kReadPast } before = Before::kNothing;
};
constexpr auto kDroppedByUs = Step::Before::kDropped;
constexpr auto kReplacedFile = Step::Before::kReplaced;
constexpr auto kHashed = Step::Before::kReadPast;

struct Case {
  const char* name;
  ResidencyMethod method;
  std::vector<Step> steps;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class PageHistoryCauses : public ::testing::TestWithParam<Case> {};

TEST_P(PageHistoryCauses, FollowFromTheMeasurements) {
  PageHistory history;
  int number = 0;
  for (const Step& step : GetParam().steps) {
    if (step.before == kDroppedByUs) history.note_dropped();
    if (step.before == kReplacedFile) history.note_replaced();
    if (step.before == kHashed) history.note_read_past();
    Residency now;
    now.method = GetParam().method;
    now.total = 100_MiB;
    now.resident = step.resident;
    now.evicted = step.evicted;
    EXPECT_EQ(code_of(history.note(now)), code_of(step.cause)) << "step " << ++number;
  }
}

constexpr auto kTells = ResidencyMethod::kCachestat;
constexpr auto kTellsNot = ResidencyMethod::kMincore;

INSTANTIATE_TEST_SUITE_P(
    Pages, PageHistoryCauses,
    ::testing::Values(
        Case{"FirstSight", kTells, {{0_MiB, 0_MiB, kNeverRead}}},
        Case{"PartlyRead", kTells, {{40_MiB, 0_MiB, kNeverRead}, {60_MiB, 0_MiB, kNeverRead}}},
        // The kernel's marks outlive the server.
        Case{"EvictedBeforeOurStart", kTells, {{40_MiB, 60_MiB, kEvicted}}},
        Case{"Evicted",
             kTells,
             {{100_MiB, 0_MiB, kNone}, {50_MiB, 50_MiB, kEvicted}, {50_MiB, 50_MiB, kEvicted}}},
        Case{"EvictedAndSomeReadByOthers",
             kTells,
             {{100_MiB, 0_MiB, kNone}, {20_MiB, 80_MiB, kEvicted}, {60_MiB, 40_MiB, kEvicted}}},
        Case{"OldMarksAreForgotten",
             kTells,
             {{100_MiB, 0_MiB, kNone}, {0_MiB, 60_MiB, kEvicted}, {0_MiB, 60_MiB, kEvicted}}},
        Case{"DroppedByOthers",
             kTells,
             {{100_MiB, 0_MiB, kNone}, {0_MiB, 0_MiB, kDropped}, {0_MiB, 0_MiB, kDropped}}},
        Case{"DroppedByOthersBesideOldMarks",
             kTells,
             {{90_MiB, 10_MiB, kEvicted}, {0_MiB, 10_MiB, kDropped}}},
        Case{"EvictedAndThenHashed",
             kTells,
             {{100_MiB, 0_MiB, kNone},
              {30_MiB, 0_MiB, kEvicted, kHashed},
              {30_MiB, 0_MiB, kEvicted},
              {100_MiB, 0_MiB, kNone},
              {10_MiB, 0_MiB, kDropped}}},
        Case{"DroppedByUsAndThenHashed",
             kTells,
             {{100_MiB, 0_MiB, kNone},
              {0_MiB, 0_MiB, kDropped, kDroppedByUs},
              {0_MiB, 0_MiB, kDropped, kHashed}}},
        Case{"DroppedByUs",
             kTells,
             {{100_MiB, 0_MiB, kNone},
              {0_MiB, 0_MiB, kDropped, kDroppedByUs},
              {30_MiB, 0_MiB, kDropped},
              {100_MiB, 0_MiB, kNone}}},
        Case{"DroppedByUsWhereSomeWasEvicted",
             kTells,
             {{60_MiB, 40_MiB, kEvicted}, {0_MiB, 40_MiB, kDropped, kDroppedByUs}}},
        Case{"EvictedAfterItCameBackFromADrop",
             kTells,
             {{0_MiB, 0_MiB, kDropped, kDroppedByUs},
              {80_MiB, 0_MiB, kDropped},
              {10_MiB, 70_MiB, kEvicted},
              {10_MiB, 70_MiB, kEvicted}}},
        Case{"BackInFull",
             kTells,
             {{100_MiB, 0_MiB, kNone}, {50_MiB, 50_MiB, kEvicted}, {100_MiB, 0_MiB, kNone}}},
        Case{"AFewPagesAreNoEvent",
             kTells,
             {{99_MiB, 0_MiB, kNeverRead}, {99_MiB - Bytes{65536}, 0_MiB, kNeverRead}}},
        Case{"Replaced",
             kTells,
             {{0_MiB, 0_MiB, kReplaced, kReplacedFile},
              {50_MiB, 0_MiB, kReplaced},
              {10_MiB, 40_MiB, kEvicted}}},
        Case{"ShrankWithoutMarks",
             kTellsNot,
             {{100_MiB, 0_MiB, kNone}, {50_MiB, 0_MiB, kEvicted}, {50_MiB, 0_MiB, kEvicted}}},
        Case{"Untold", ResidencyMethod::kUnknown, {{0_MiB, 0_MiB, kNone}}}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth
