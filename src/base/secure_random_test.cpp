// SPDX-License-Identifier: Apache-2.0
#include "base/secure_random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace hearth {
namespace {

TEST(SecureRandom, FillsAllOfItDifferentlyEachTime) {
  std::array<unsigned char, 32> first{};
  std::array<unsigned char, 32> second{};
  ASSERT_TRUE(SecureRandom::kernel().fill(first));
  ASSERT_TRUE(SecureRandom::kernel().fill(second));
  EXPECT_NE(first, second);
}

// One call to the kernel may give less than was asked for.
TEST(SecureRandom, FillsMoreThanOneCallGives) {
  std::vector<unsigned char> bytes(100'000);
  ASSERT_TRUE(SecureRandom::kernel().fill(bytes));
  const auto tail = std::span{bytes}.last(64);
  EXPECT_TRUE(std::ranges::any_of(tail, [](unsigned char byte) { return byte != 0; }));
}

TEST(SecureRandom, NothingIsEasy) { EXPECT_TRUE(SecureRandom::kernel().fill({})); }

}  // namespace
}  // namespace hearth
