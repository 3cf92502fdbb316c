// SPDX-License-Identifier: Apache-2.0
#include "base/constant_time.h"

#include <gtest/gtest.h>

namespace hearth {
namespace {

TEST(EqualInConstantTime, IsEquality) {
  using std::string_view_literals::operator""sv;
  EXPECT_TRUE(equal_in_constant_time("", ""));
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abc", "abd"));
  EXPECT_FALSE(equal_in_constant_time("bbc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abc", "ab"));
  EXPECT_FALSE(equal_in_constant_time("a\0b"sv, "a\0c"sv));
}

}  // namespace
}  // namespace hearth
