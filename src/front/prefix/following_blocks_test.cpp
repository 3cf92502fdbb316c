// SPDX-License-Identifier: Apache-2.0
#include "front/prefix/following_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace hearth::front {
namespace {

Digest named(int number) {
  Digest digest{};
  digest[0] = static_cast<unsigned char>(number);
  digest[1] = static_cast<unsigned char>(number >> 8);
  return digest;
}

const Digest kParent = named(60'000);
const auto kAny = [](const Digest&) { return true; };

using Tokens = std::vector<int>;
using Digests = std::vector<Digest>;

TEST(FollowingBlocks, FindsWhatGoesOnAlikeForLongest) {
  FollowingBlocks blocks;
  blocks.add(named(1), kParent, Tokens(64, 7));
  blocks.add(named(2), kParent, {7, 7, 9});
  blocks.add(named(3), named(9), {7, 7, 8});
  const Tokens text{7, 7, 8, 1};
  const auto found = blocks.longest(kParent, text, kAny);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->tokens, 2u);
  EXPECT_EQ(blocks.longest(kParent, Tokens{7, 7, 9, 9}, kAny)->block, named(2));
  EXPECT_EQ(blocks.longest(kParent, Tokens(9, 7), kAny)->tokens, 9u);
  EXPECT_FALSE(blocks.longest(kParent, Tokens{8}, kAny));
  EXPECT_FALSE(blocks.longest(kParent, Tokens{}, kAny));
  EXPECT_FALSE(blocks.longest(named(4), text, kAny));
}

TEST(FollowingBlocks, LooksPastThoseThatCannotBeUsed) {
  FollowingBlocks blocks;
  for (int i = 1; i <= 9; ++i) blocks.add(named(i), kParent, {1, 2, i, 4});
  const auto found = blocks.longest(kParent, Tokens{1, 2, 5, 4}, [](const Digest& block) {
    return block == named(1) || block == named(9);
  });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->tokens, 2u);
}

TEST(FollowingBlocks, FindsAsMuchAsALookAtAllOfThem) {
  Random random{4};
  FollowingBlocks blocks;
  std::vector<Tokens> all;
  const auto text = [&random](std::size_t size) {
    Tokens tokens(size);
    for (int& token : tokens) token = static_cast<int>(random.next() % 2);
    return tokens;
  };
  for (int i = 0; i < 300; ++i) {
    all.push_back(text(1 + random.next() % 12));
    blocks.add(named(i), kParent, all.back());
  }
  for (int i = 0; i < 1000; ++i) {
    const Tokens wanted = text(1 + random.next() % 14);
    const auto odd = [](const Digest& block) { return block[0] % 2 == 1; };
    std::size_t most = 0;
    for (std::size_t k = 1; k < all.size(); k += 2) {
      if (std::ranges::find(all, all[k]) - all.begin() != static_cast<std::ptrdiff_t>(k)) continue;
      const auto end = std::ranges::mismatch(all[k], wanted).in1;
      most = std::max(most, static_cast<std::size_t>(end - all[k].begin()));
    }
    const auto found = blocks.longest(kParent, wanted, odd);
    ASSERT_EQ(found ? found->tokens : 0, most);
  }
}

TEST(FollowingBlocks, KnowsPartsThatLongerOnesCover) {
  FollowingBlocks blocks;
  blocks.add(named(1), kParent, {1});
  blocks.add(named(2), kParent, {1, 2});
  blocks.add(named(3), kParent, {1, 3});
  EXPECT_EQ(blocks.covered(kParent, Tokens{1, 2, 3}), (Digests{named(1), named(2)}));
  EXPECT_EQ(blocks.covered(kParent, Tokens{1, 2}), Digests{named(1)}) << "not itself";
  Tokens whole(64, 2);
  whole[0] = 1;
  blocks.add(named(4), kParent, whole);
  EXPECT_EQ(blocks.covered(kParent, whole), (Digests{named(1), named(2)}));
  blocks.remove(kParent, Tokens{1});
  EXPECT_EQ(blocks.covered(kParent, whole), Digests{named(2)});
}

TEST(FollowingBlocks, TheFirstPartsAreTooMany) {
  FollowingBlocks blocks;
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(blocks.surplus(kParent, kAny).size(), static_cast<std::size_t>(std::max(0, i - 4)));
    blocks.add(named(i), kParent, {i, i});
    blocks.add(named(100 + i), kParent, Tokens(64, i));
  }
  EXPECT_EQ(blocks.surplus(kParent, kAny), (Digests{named(0), named(1)}));
  const auto others = [](const Digest& block) { return block != named(0); };
  EXPECT_EQ(blocks.surplus(kParent, others), Digests{named(1)});
  for (int i = 0; i < 6; ++i) {
    blocks.remove(kParent, Tokens{i, i});
    blocks.remove(kParent, Tokens(64, i));
  }
  EXPECT_TRUE(blocks.surplus(kParent, kAny).empty());
  EXPECT_FALSE(blocks.longest(kParent, Tokens(64, 1), kAny));
}

}  // namespace
}  // namespace hearth::front
