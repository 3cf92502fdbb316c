// SPDX-License-Identifier: Apache-2.0
#include "front/prefix/seen_blocks.h"

#include <gtest/gtest.h>

namespace hearth::front {
namespace {

std::vector<Digest> chain(unsigned char number, std::size_t count) {
  std::vector<Digest> digests(count);
  for (std::size_t i = 0; i < count; ++i) {
    digests[i][0] = number;
    digests[i][1] = static_cast<unsigned char>(i);
  }
  return digests;
}

TEST(SeenBlocks, KnowsHowFarAChainWasSeenAndWhereItWentOn) {
  SeenBlocks seen;
  EXPECT_EQ(seen.leading(chain(1, 4)), 0u);
  seen.note(chain(1, 4), {}, {});
  EXPECT_EQ(seen.leading(chain(1, 9)), 4u);
  EXPECT_TRUE(seen.continued(chain(1, 4)[2]));
  EXPECT_FALSE(seen.continued(chain(1, 4)[3]));
  seen.note(chain(1, 2), {}, {});
  EXPECT_TRUE(seen.continued(chain(1, 4)[1])) << "once is enough";
}

TEST(SeenBlocks, KnowsForWhom) {
  SeenBlocks seen;
  const Digest plain = chain(9, 1)[0];
  EXPECT_EQ(seen.others(plain, {1, 1}), SeenBlocks::Others::kNone);
  seen.note({}, chain(9, 1), {1, 1});
  EXPECT_EQ(seen.others(plain, {1, 1}), SeenBlocks::Others::kNone);
  EXPECT_EQ(seen.others(plain, {1, 2}), SeenBlocks::Others::kOtherGroup);
  EXPECT_EQ(seen.others(plain, {2, 1}), SeenBlocks::Others::kOtherOptions);
  EXPECT_EQ(seen.others(plain, {2, 2}), SeenBlocks::Others::kOtherGroup);
}

TEST(SeenBlocks, IsBoundedAndForgetsEndsFirst) {
  SeenBlocks seen{10};
  seen.note(chain(1, 8), {}, {});
  seen.note(chain(2, 5), {}, {});
  EXPECT_EQ(seen.blocks(), 10u);
  EXPECT_EQ(seen.leading(chain(1, 8)), 5u);
  EXPECT_EQ(seen.leading(chain(2, 5)), 5u);
}

}  // namespace
}  // namespace hearth::front
