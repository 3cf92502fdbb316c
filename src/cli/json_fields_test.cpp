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

TEST(BytesIn, AreNeverLessThanNothing) {
  const boost::json::object object{{"some", 5}, {"less", -5}, {"text", "5"}};
  EXPECT_EQ(bytes_in(object, "some"), Bytes{5});
  EXPECT_EQ(bytes_in(object, "less"), Bytes{});
  EXPECT_EQ(bytes_in(object, "text"), Bytes{});
}

TEST(ObjectsIn, SkipsWhatIsNoObject) {
  const auto object = boost::json::parse(R"({"a":[{"x":1},2,null],"b":{"y":2}})").get_object();
  ASSERT_EQ(objects_in(object, "a").size(), 1U);
  EXPECT_EQ(integer_in(*objects_in(object, "a").front(), "x"), 1);
  EXPECT_TRUE(objects_in(object, "b").empty());
  EXPECT_EQ(integer_in(part_in(object, "b"), "y"), 2);
  EXPECT_TRUE(part_in(object, "a").empty());
}

}  // namespace
}  // namespace hearth::cli
