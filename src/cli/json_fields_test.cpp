// SPDX-License-Identifier: Apache-2.0
#include "cli/json_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hearth::cli {
namespace {

TEST(TextsIn, SkipsWhatIsNoText) {
  EXPECT_THAT(texts_in(boost::json::parse(R"({"a":["x",1,null,"y"]})").get_object(), "a"),
              testing::ElementsAre("x", "y"));
  EXPECT_TRUE(texts_in({{"a", "x"}}, "a").empty());
}

}  // namespace
}  // namespace hearth::cli
