// SPDX-License-Identifier: Apache-2.0
#include "front/merged_settings.h"

#include <gtest/gtest.h>

namespace hearth::front {
namespace {

struct MergeCase {
  const char* name;
  std::string base;
  std::string said;
  std::string merged;  // empty: none
};
class MergedParameters : public ::testing::TestWithParam<MergeCase> {};
TEST_P(MergedParameters, OneByOne) {
  ModelSettings base;
  base.parameters = GetParam().base;
  CreateRequest request;
  request.parameters = GetParam().said;
  const auto merged = merged_settings(base, request);
  ASSERT_TRUE(merged) << merged.error().message();
  EXPECT_EQ(merged->parameters, GetParam().merged);
}
INSTANTIATE_TEST_SUITE_P(
    Merge, MergedParameters,
    ::testing::Values(
        MergeCase{"NothingSaid", R"({"seed":1})", "", R"({"seed":1})"},
        MergeCase{"NothingBefore", "", R"({"seed":1})", R"({"seed":1})"},
        MergeCase{"Added", R"({"seed":1})", R"({"top_k":2})", R"({"seed":1,"top_k":2})"},
        MergeCase{"Replaced", R"({"seed":1,"top_k":2})", R"({"seed":3})",
                  R"({"seed":3,"top_k":2})"},
        MergeCase{"ListsAreWhole", R"({"stop":["a"]})", R"({"stop":["b"]})", R"({"stop":["b"]})"},
        MergeCase{"NullTakesAway", R"({"seed":1})", R"({"seed":null})", ""}),
    [](const auto& test) { return test.param.name; });

TEST(MergedSettings, WhatIsSaidTakesThePlaceOfWhatWas) {
  ModelSettings base{"be kind", R"({"seed":1})", "{{ x }}", "MIT", R"([{"role":"user"}])"};
  const auto same = merged_settings(base, CreateRequest{});
  ASSERT_TRUE(same);
  EXPECT_EQ(*same, base);
  CreateRequest request;
  request.system = "";
  request.chat_template = "{{ y }}";
  request.license = "GPL";
  request.messages = "[]";
  const auto other = merged_settings(base, request);
  ASSERT_TRUE(other);
  EXPECT_EQ(*other, (ModelSettings{"", R"({"seed":1})", "{{ y }}", "GPL", ""}));
}

TEST(MergedSettings, RefusesWhatIsNoJson) {
  for (const char* text : {"[1]", "{", "7"}) {
    CreateRequest request;
    request.parameters = text;
    const auto merged = merged_settings({}, request);
    ASSERT_FALSE(merged) << text;
    EXPECT_EQ(merged.error().field(), "parameters");
  }
  CreateRequest request;
  request.messages = "{}";
  const auto merged = merged_settings({}, request);
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().field(), "messages");
}

}  // namespace
}  // namespace hearth::front
