// SPDX-License-Identifier: Apache-2.0
#include "api/shorten.h"

#include <gtest/gtest.h>

namespace hearth::api {
namespace {

TEST(Vectors, AreCutToLengthOne) {
  std::vector<float> vector{0.6F, 0, 0.8F};
  shorten(vector, 5);
  EXPECT_EQ(vector, (std::vector<float>{0.6F, 0, 0.8F}));
  shorten(vector, 2);
  EXPECT_EQ(vector, (std::vector<float>{1, 0}));
  vector = {0, 0, 1};
  shorten(vector, 2);
  EXPECT_EQ(vector, (std::vector<float>{0, 0}));
}

}  // namespace
}  // namespace hearth::api
