// SPDX-License-Identifier: Apache-2.0
#include "cli/timeline_bar.h"

#include <gtest/gtest.h>

namespace hearth::cli {
namespace {

struct BarCase {
  const char* label;
  Place place;
  const char* ascii;
  const char* unicode;
};
class TimelineBar : public testing::TestWithParam<BarCase> {};
TEST_P(TimelineBar, ShowsThePlace) {
  EXPECT_EQ(timeline_bar(GetParam().place, 10, BarStyle::kAscii), GetParam().ascii);
  EXPECT_EQ(timeline_bar(GetParam().place, 10, BarStyle::kUnicode), GetParam().unicode);
}
INSTANTIATE_TEST_SUITE_P(
    Places, TimelineBar,
    testing::Values(BarCase{"Whole", {0, 1}, "##########", "██████████"},
                    BarCase{"Middle", {0.3, 0.4}, "   ####", "   ████"},
                    BarCase{"Eighths", {0, 0.3125}, "###", "███▏"},
                    BarCase{"Tiny", {0.5, 0.0001}, "     |", "     ▏"},
                    BarCase{"TinyAtTheEnd", {1, 0.0001}, "         |", "         ▏"},
                    BarCase{"Nothing", {0.5, 0}, "", ""},
                    BarCase{"BeyondTheEnd", {0.8, 5}, "        ##", "        ██"},
                    BarCase{"BeforeTheStart", {-3, 0.2}, "##", "██"}),
    [](const auto& test) { return test.param.label; });

TEST(TimelineBarWidth, MayBeNothing) { EXPECT_EQ(timeline_bar({0, 1}, 0, BarStyle::kAscii), ""); }

}  // namespace
}  // namespace hearth::cli
