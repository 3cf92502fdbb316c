// SPDX-License-Identifier: Apache-2.0
#include "layers/compiled/stored_load_set.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace hearth {
namespace {

using Ranges = std::vector<Range>;

Range range(std::uint64_t begin, std::uint64_t end) { return {begin, Bytes{end - begin}}; }

repack::Table table_of(const std::vector<std::pair<int, Range>>& replaced) {
  repack::Table table;
  table.file_size = Bytes{777};
  for (const auto& [shard, place] : replaced) {
    repack::Entry entry;
    entry.shard = shard;
    entry.source_offset = place.offset;
    entry.source_size = place.size;
    table.entries.push_back(entry);
  }
  return table;
}

struct Case {
  const char* name;
  Ranges model;
  Ranges replaced;
  Ranges left;
};
class StoredLoadSet : public testing::TestWithParam<Case> {};
TEST_P(StoredLoadSet, LeavesOutWhatIsReplaced) {
  std::vector<std::pair<int, Range>> replaced;
  for (const Range& each : GetParam().replaced) replaced.push_back({0, each});
  const LoadSet set = load_set_with({{"model", GetParam().model}}, table_of(replaced), "stored");
  ASSERT_EQ(set.size(), 2u);
  EXPECT_EQ(set[0].path, "model");
  EXPECT_EQ(set[0].ranges, GetParam().left);
  EXPECT_EQ(set[1].path, "stored");
  EXPECT_EQ(set[1].ranges, Ranges{range(0, 777)});
}
INSTANTIATE_TEST_SUITE_P(
    Compiled, StoredLoadSet,
    testing::Values(
        Case{"Nothing", {range(0, 100)}, {}, {range(0, 100)}},
        Case{"TheMiddle", {range(0, 100)}, {range(40, 60)}, {range(0, 40), range(60, 100)}},
        Case{"TheBegin", {range(0, 100)}, {range(0, 60)}, {range(60, 100)}},
        Case{"TheEnd", {range(0, 100)}, {range(60, 100)}, {range(0, 60)}},
        Case{"All", {range(0, 100)}, {range(0, 50), range(50, 100)}, {}},
        Case{"AcrossRanges",
             {range(0, 50), range(60, 100)},
             {range(40, 70)},
             {range(0, 40), range(70, 100)}},
        Case{"InAnyOrder",
             {range(0, 100)},
             {range(80, 90), range(10, 20)},
             {range(0, 10), range(20, 80), range(90, 100)}},
        Case{"BesideIt", {range(10, 20)}, {range(0, 10), range(20, 30)}, {range(10, 20)}}),
    [](const auto& test) { return test.param.name; });

TEST(StoredLoadSetShards, EachFileByItself) {
  const LoadSet set =
      load_set_with({{"a", {range(0, 10)}}, {"b", {range(0, 10)}}},
                    table_of({{1, range(2, 4)}, {5, range(0, 10)}, {-1, range(0, 10)}}), "stored");
  EXPECT_EQ(set[0].ranges, Ranges{range(0, 10)});
  EXPECT_EQ(set[1].ranges, (Ranges{range(0, 2), range(4, 10)}));
}

TEST(StoredLoadSetSeeds, EveryByteIsThereOnceOrReplaced) {
  Random random{3};
  for (int round = 0; round < 3000; ++round) {
    const auto some = [&random](std::uint64_t most) {
      Ranges made;
      for (std::uint64_t at = random.next() % 9; at + 1 < most; at += 1 + random.next() % 9) {
        const std::uint64_t end = std::min(most, at + 1 + random.next() % 9);
        made.push_back(range(at, end));
        at = end;
      }
      return made;
    };
    const auto covers = [](const Ranges& ranges, std::uint64_t at) {
      return std::count_if(ranges.begin(), ranges.end(),
                           [&](const Range& each) { return each.offset <= at && at < each.end(); });
    };
    const Ranges model = some(64), gone = some(64);
    std::vector<std::pair<int, Range>> replaced;
    for (const Range& each : gone) replaced.push_back({0, each});
    const LoadSet set = load_set_with({{"m", model}}, table_of(replaced), "s");
    for (std::uint64_t at = 0; at < 64; ++at) {
      EXPECT_EQ(covers(set[0].ranges, at), covers(gone, at) > 0 ? 0 : covers(model, at)) << at;
    }
  }
}

}  // namespace
}  // namespace hearth
