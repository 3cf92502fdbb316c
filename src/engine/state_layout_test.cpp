// SPDX-License-Identifier: Apache-2.0
#include "engine/state_layout.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace hearth::engine {
namespace {

struct Section {
  std::uint32_t streams = 1;
  std::uint32_t cells = 0;  // as it says; 0: as many as there are positions
  std::vector<std::int32_t> positions;
  int extra = 0;  // numbers between a cell's position and its sequence
  std::uint32_t sequences = 1;

  std::string bytes() const {
    std::string out;
    const auto put = [&](std::uint32_t n) { out.append(reinterpret_cast<const char*>(&n), 4); };
    put(streams);
    put(cells != 0 ? cells : static_cast<std::uint32_t>(positions.size()));
    for (const std::int32_t position : positions) {
      put(static_cast<std::uint32_t>(position));
      put(sequences);
      for (int i = 0; i < extra; ++i) put(7);
      put(4);
    }
    return out;
  }
};

struct LayoutCase {
  const char* name;
  Section section;
  Cells cells;
  bool holds;
};

class StateLayout : public testing::TestWithParam<LayoutCase> {};

TEST_P(StateLayout, IsOfTheFourPositionsFromEightOn) {
  const std::string bytes = GetParam().section.bytes();
  EXPECT_EQ(section_holds(std::as_bytes(std::span{bytes}), 8, 4, GetParam().cells),
            GetParam().holds);
}

INSTANTIATE_TEST_SUITE_P(
    Sections, StateLayout,
    testing::Values(
        LayoutCase{"All", {1, 0, {8, 9, 10, 11}}, Cells::kAll, true},
        LayoutCase{"WithMoreOfEachCell", {1, 0, {8, 9, 10, 11}, 3}, Cells::kAll, true},
        LayoutCase{"InTheOrderOfCells", {1, 0, {10, 11, 8, 9}}, Cells::kAll, true},
        LayoutCase{"LastOnes", {1, 0, {10, 11}}, Cells::kLast, true},
        LayoutCase{"LastOnesAreNotAll", {1, 0, {10, 11}}, Cells::kAll, false},
        LayoutCase{"FirstOnes", {1, 0, {8, 9}}, Cells::kLast, false},
        LayoutCase{"Gap", {1, 0, {8, 10, 11}}, Cells::kLast, false},
        LayoutCase{"Twice", {1, 0, {8, 9, 11, 11}}, Cells::kAll, false},
        LayoutCase{"Elsewhere", {1, 0, {72, 73, 74, 75}}, Cells::kAll, false},
        LayoutCase{"Negative", {1, 0, {-1, 9, 10, 11}}, Cells::kAll, false},
        LayoutCase{"Empty", {1, 0, {}}, Cells::kLast, false},
        LayoutCase{"MoreThanThereIsRoomFor", {1, 0xFFFFFFFF, {8, 9, 10, 11}}, Cells::kAll, false},
        LayoutCase{"FewerBytesThanCells", {1, 4, {8, 9}}, Cells::kAll, false},
        LayoutCase{"TwoStreams", {2, 0, {8, 9, 10, 11}}, Cells::kAll, false},
        LayoutCase{"OfSeveralSequences", {1, 0, {8, 9, 10, 11}, 0, 2}, Cells::kAll, false}),
    [](const auto& test) { return test.param.name; });

TEST(StateLayout, ShortBytesAreNoSection) {
  const std::string bytes = Section{1, 0, {8, 9, 10, 11}}.bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto part = std::as_bytes(std::span{bytes}).first(size);
    EXPECT_FALSE(section_holds(part, 8, 4, Cells::kAll)) << size;
  }
}

}  // namespace
}  // namespace hearth::engine
