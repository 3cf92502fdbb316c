// SPDX-License-Identifier: Apache-2.0
#include "front/config/prefix_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hearth::front {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(PrefixGroups, HaveANameAndKeys) {
  const auto group = parse_prefix_group("the family : anna,  ben b. ");
  ASSERT_TRUE(group);
  EXPECT_EQ(group->name, "the family");
  EXPECT_THAT(group->keys, ElementsAre("anna", "ben b."));
  EXPECT_THAT(parse_prefix_group("family:anna")->keys, ElementsAre("anna"));
}

TEST(PrefixGroups, RefuseWhatIsNone) {
  for (const char* text :
       {"", "family", "family:", "family: ", ": anna", "family: , anna", "family: anna,, ben"}) {
    const auto group = check_prefix_group(text);
    ASSERT_FALSE(group) << text;
    EXPECT_EQ(group.error().code(), ErrorCode::kInvalid);
    EXPECT_THAT(group.error().message(), HasSubstr("must be groups of keys"));
  }
}

}  // namespace
}  // namespace hearth::front
