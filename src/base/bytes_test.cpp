// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace hearth {
namespace {

using namespace hearth::literals;

static_assert(!std::is_convertible_v<int, Bytes> && !std::is_convertible_v<Bytes, int>);

TEST(Bytes, SubtractionStopsAtZero) {
  EXPECT_EQ(1_MiB - 2_MiB, Bytes{});
  EXPECT_EQ(2_MiB - 1_MiB, 1_MiB);
  EXPECT_EQ(2_MiB - 2_MiB, 0_GiB);
}

TEST(Bytes, LiteralsArePowersOfTwo) {
  EXPECT_EQ((1_KiB).count(), 1024U);
  EXPECT_EQ(1_GiB, Bytes{std::uint64_t{1} << 30});
  Bytes sum;
  for (int i = 0; i < 1024; ++i) sum += 1_KiB;
  EXPECT_EQ(sum, 1_MiB);
  EXPECT_LT(1_KiB, 1_MiB);
}

}  // namespace
}  // namespace hearth
