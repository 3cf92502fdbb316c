// SPDX-License-Identifier: Apache-2.0
#include "transfer/part_table.h"

#include <gtest/gtest.h>

#include <vector>

namespace hearth::transfer {
namespace {

constexpr Bytes kPart{16};
const Geometry kGeometry{kPart, Bytes{64}, Bytes{128}, Bytes{64}, 2};

Digest digest(unsigned char of) {
  Digest made{};
  made[0] = of;
  return made;
}

PartTable table_of(std::uint64_t size) {
  PartTable table{kGeometry};
  table.reset(Bytes{size}, {});
  return table;
}

// Everything that can be asked for comes.
void bring_all(PartTable& table) {
  while (const auto run = table.take()) {
    for (std::size_t part = table.part_at(run->begin); table.begin_of(part) < run->end; ++part) {
      table.fill(part, table.length_of(part) - table.record(part).filled);
    }
  }
}

// The hash goes as far as it can; digests are `version` but for one part.
void hash_all(PartTable& table, std::size_t odd, unsigned char version) {
  for (auto turn = table.turn(); turn; turn = table.turn()) {
    table.passed(*turn, digest(turn->part == odd ? version : 1));
    bring_all(table);
  }
}

TEST(PartTable, GivesEachByteOnceAndNothingBeyondTheWindow) {
  PartTable table = table_of(1000);
  std::uint64_t end = 0;
  while (const auto run = table.take()) {
    EXPECT_EQ(run->begin, end);
    end = run->end;
  }
  EXPECT_EQ(end, kGeometry.window.count());
}

TEST(PartTable, WhatIsGivenBackIsAskedForFromWhereItStopped) {
  PartTable table = table_of(64);
  ASSERT_EQ(table.take()->end, 16u);
  table.fill(0, 10);
  table.give_back(10, 16);
  const auto again = table.take();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->begin, 10u);
}

TEST(PartTable, TheHashNeverWaitsForTheWindow) {
  PartTable table = table_of(1000);
  bring_all(table);
  auto turn = table.turn();
  ASSERT_TRUE(turn);
  table.lost(*turn);
  EXPECT_FALSE(table.turn());
  const auto run = table.take();
  ASSERT_TRUE(run);
  EXPECT_EQ(run->begin, 0u);
  EXPECT_EQ(run->end, 16u);
}

TEST(PartTable, WhatCannotBeOfThisSizeIsForgotten) {
  PartTable table{kGeometry};
  table.reset(std::nullopt, {{16, digest(1)}, {16, digest(2)}, {3, {}}});
  EXPECT_EQ(table.arrived(), Bytes{35});
  table.set_size(Bytes{20});
  EXPECT_EQ(table.arrived(), kPart);
  EXPECT_FALSE(table.full(1));
}

TEST(PartTable, ALookThatChangesNothingIsTheLast) {
  PartTable table = table_of(100);
  bring_all(table);
  hash_all(table, 0, 1);
  ASSERT_TRUE(table.at_end());
  ASSERT_EQ(table.look_again(), PartTable::Next::kParts);
  bring_all(table);
  hash_all(table, 0, 1);
  ASSERT_TRUE(table.at_end());
  EXPECT_EQ(table.look_again(), PartTable::Next::kFailed);
}

TEST(PartTable, AfterAChangeTheWholeIsHashedAndNothingFurtherIsOpened) {
  PartTable table = table_of(1000);
  bring_all(table);
  hash_all(table, 0, 1);
  ASSERT_EQ(table.look_again(), PartTable::Next::kParts);
  const auto run = table.take();
  ASSERT_TRUE(run);
  table.fill(0, 16);
  table.passed(*table.turn(), digest(9));
  EXPECT_EQ(table.mode(), PartTable::Mode::kHash);
  EXPECT_EQ(table.hashed(), Bytes{});
  EXPECT_FALSE(table.take());
  EXPECT_TRUE(table.too_early_for(table.part_at(run->end)));
  // What was opened before is waited for.
  table.passed(*table.turn(), digest(9));
  EXPECT_FALSE(table.turn());
}

TEST(PartTable, LooksEndOnALineThatDamagesEverything) {
  PartTable table = table_of(100);
  int passes = 0;
  for (; passes < 1000; ++passes) {
    bring_all(table);
    hash_all(table, 2, static_cast<unsigned char>(passes));
    ASSERT_TRUE(table.at_end());
    if (table.look_again() == PartTable::Next::kFailed) break;
  }
  EXPECT_EQ(table.look(), 4);
  EXPECT_LT(passes, 40);
}

}  // namespace
}  // namespace hearth::transfer
