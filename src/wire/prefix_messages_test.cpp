// SPDX-License-Identifier: Apache-2.0
#include "wire/prefix_messages.h"

#include <gtest/gtest.h>

namespace hearth::wire {
namespace {

TEST(PrefixMessages, APlanTellsOfItsLastBlocksBeginning) {
  PrefixPlanMessage plan;
  plan.stored = {{BlockTier::kArena, 3, Bytes{9000}}, {BlockTier::kDisk, 0, Bytes{4000}, 17}};
  plan.keep_from = 1;
  plan.keep = {4, 5};
  plan.keep_limit = Bytes{1 << 20};
  const auto back = decode_prefix_plan(encode(plan));
  ASSERT_TRUE(back);
  ASSERT_EQ(back->stored.size(), 2U);
  EXPECT_EQ(back->stored[0].tokens, 0);
  EXPECT_EQ(back->stored[1].tokens, 17);
  EXPECT_EQ(back->stored[1].tier, BlockTier::kDisk);
  EXPECT_EQ(back->keep, plan.keep);
}

TEST(PrefixMessages, AReportTellsWhetherItsLastRecordIsAPart) {
  BlocksMessage blocks;
  blocks.sizes = {Bytes{9000}, Bytes{}};
  blocks.generated = {1, 2};
  for (const int part : {0, 9}) {
    blocks.part = part;
    const auto back = decode_blocks(encode(blocks));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->part, part);
    EXPECT_EQ(back->sizes, blocks.sizes);
  }
}

}  // namespace
}  // namespace hearth::wire
