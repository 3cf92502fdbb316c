// SPDX-License-Identifier: Apache-2.0
#include "cli/share_bar.h"

#include <gtest/gtest.h>

namespace hearth::cli {
namespace {

using namespace literals;

struct BarCase {
  const char* name;
  std::vector<Share> parts;
  std::size_t cells;
  const char* bar;
};

class ShareBar : public testing::TestWithParam<BarCase> {};

TEST_P(ShareBar, IsDrawn) {
  EXPECT_EQ(share_bar(GetParam().parts, GetParam().cells, {}), GetParam().bar);
}

INSTANTIATE_TEST_SUITE_P(
    Memory, ShareBar,
    testing::Values(BarCase{"Nothing", {}, 10, ""},
                    BarCase{"AllEmpty", {{'a', Bytes{}}, {'b', Bytes{}}}, 10, ""},
                    BarCase{"InProportion", {{'a', 3_MiB}, {'b', 1_MiB}}, 8, "aaaaaabb"},
                    BarCase{"EmptyOnesAreLeftOut", {{'a', 1_MiB}, {'b', Bytes{}}}, 4, "aaaa"},
                    BarCase{"TheSmallestShows", {{'a', 1_GiB}, {'b', Bytes{1}}}, 5, "aaaab"},
                    BarCase{"OneCellForEach", {{'a', 9_GiB}, {'b', 1_MiB}, {'c', 1_MiB}}, 3, "abc"},
                    BarCase{"TooNarrow", {{'a', 1_MiB}, {'b', 1_MiB}}, 1, ""},
                    BarCase{"RestsGoToTheLargest",
                            {{'a', 1_MiB}, {'b', 1_MiB}, {'c', 1_MiB}},
                            10,
                            "aaaabbbccc"},
                    BarCase{"Huge", {{'a', Bytes{~std::uint64_t{0}}}, {'b', 1_MiB}}, 4, "aaab"}),
    [](const auto& test) { return test.param.name; });

TEST(ShareBarColours, AreForTerminals) {
  const std::vector<Share> parts{{'a', 1_MiB, Paint::kGreen}, {'b', 1_MiB}};
  EXPECT_EQ(share_bar(parts, 4, {.terminal = true, .colour = true}), "\033[32maa\033[0mbb");
}

}  // namespace
}  // namespace hearth::cli
