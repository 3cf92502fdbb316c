// SPDX-License-Identifier: Apache-2.0
#include "layers/pages/read_plan.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace hearth {
namespace {

using namespace literals;

constexpr std::uint64_t kPage = 4096;
constexpr Bytes kGrain = 16_KiB;

// One character a page: '#' is there. Counts whole pages, as the kernel does.
CountResident pages(const std::string& map, int* calls = nullptr) {
  return [map, calls](Range range) {
    if (calls != nullptr) ++*calls;
    std::uint64_t there = 0;
    for (std::uint64_t page = range.offset / kPage; page * kPage < range.end(); ++page) {
      there += page < map.size() && map[page] == '#' ? kPage : 0;
    }
    return std::min(Bytes{there}, range.size);
  };
}

Bytes size_of(const std::vector<Range>& runs) {
  Bytes sum;
  for (const Range& run : runs) sum += run.size;
  return sum;
}

struct PlanCase {
  const char* name;
  std::string map;
  Range range;
  std::vector<Range> runs;
};
void PrintTo(const PlanCase& c, std::ostream* out) { *out << c.name; }
class Plans : public ::testing::TestWithParam<PlanCase> {};

TEST_P(Plans, ReadWhatIsMissing) {
  EXPECT_EQ(missing_runs(GetParam().range, 64_KiB, kGrain, pages(GetParam().map)), GetParam().runs);
}
INSTANTIATE_TEST_SUITE_P(
    Pages, Plans,
    ::testing::Values(
        PlanCase{"Nothing", std::string(64, '#'), {0, 256_KiB}, {}},
        PlanCase{"Everything", std::string(64, '.'), {0, 256_KiB}, {{0, 256_KiB}}},
        PlanCase{"SecondHalf",
                 std::string(32, '#') + std::string(32, '.'),
                 {0, 256_KiB},
                 {{128 << 10, 128_KiB}}},
        PlanCase{"AHoleInTheMiddle",
                 std::string(20, '#') + std::string(8, '.') + std::string(36, '#'),
                 {0, 256_KiB},
                 {{80 << 10, 32_KiB}}},
        PlanCase{"AHoleOverTwoPiecesIsOneRun",
                 std::string(12, '#') + std::string(8, '.') + std::string(12, '#'),
                 {0, 128_KiB},
                 {{48 << 10, 32_KiB}}},
        PlanCase{"SmallerThanAGrainCountsAsOne",
                 std::string(5, '#') + "." + std::string(10, '#'),
                 {0, 64_KiB},
                 {{16 << 10, 16_KiB}}},
        PlanCase{"OddEnds", std::string(16, '.'), {100, Bytes{50'000}}, {{100, Bytes{50'000}}}},
        PlanCase{"OddEndsPartlyThere",
                 "####............",
                 {100, Bytes{50'000}},
                 {{16 << 10, Bytes{50'100 - (16 << 10)}}}},
        PlanCase{"Empty", "", {0, 0_KiB}, {}},
        PlanCase{"BehindTheFilesEnd", "##", {0, 64_KiB}, {{0, 64_KiB}}}),
    [](const auto& test) { return test.param.name; });

class Alternating : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Alternating, ReadsTheMissingHalfAndNoMore) {
  const std::size_t stride = GetParam() / kPage;
  std::string map;
  while (map.size() < 4096) map += std::string(stride, '#') + std::string(stride, '.');
  int calls = 0;
  const auto runs = missing_runs({0, 16_MiB}, 4_MiB, kGrain, pages(map, &calls));
  EXPECT_EQ(size_of(runs), 8_MiB);
  EXPECT_EQ(runs.size(), (16U << 20U) / (2 * GetParam()));
  EXPECT_LT(calls, 2048 + 8) << "two calls for each grain at most";
}
INSTANTIATE_TEST_SUITE_P(Pages, Alternating,
                         ::testing::Values(std::size_t{16} << 10U, std::size_t{64} << 10U,
                                           std::size_t{1} << 20U, std::size_t{8} << 20U));

TEST(Plan, WhatIsWhollyThereCostsOneCallAPiece) {
  int calls = 0;
  EXPECT_TRUE(
      missing_runs({0, 16_MiB}, 4_MiB, kGrain, pages(std::string(4096, '#'), &calls)).empty());
  EXPECT_EQ(calls, 4);
}

TEST(Plan, BlocksStayWithinTheirRuns) {
  const std::vector<Range> runs{{0, 10_MiB}, {12 << 20, 1_MiB}};
  const std::vector<Range> blocks = blocks_of(runs, 4_MiB);
  const std::vector<Range> wanted{
      {0, 4_MiB}, {4 << 20, 4_MiB}, {8 << 20, 2_MiB}, {12 << 20, 1_MiB}};
  EXPECT_EQ(blocks, wanted);
  EXPECT_TRUE(blocks_of({}, 4_MiB).empty());
}

}  // namespace
}  // namespace hearth
