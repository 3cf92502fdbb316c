// SPDX-License-Identifier: Apache-2.0
#include "api/schema_references.h"

#include <gtest/gtest.h>

namespace hearth::api {
namespace {

bool back(const char* definitions, std::string_view reference) {
  const boost::json::value root = boost::json::parse(definitions);
  return leads_back(root.get_object(), reference);
}

TEST(SchemaReferences, SeeCirclesThatNoTextBreaks) {
  EXPECT_TRUE(back(R"({"$defs":{"a":{"$ref":"#/$defs/a"}}})", "#/$defs/a"));
  EXPECT_TRUE(back(R"({"$defs":{"a":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/b"}]},
                                "b":{"allOf":[{"$ref":"#/$defs/a"}]}}})",
                   "#/$defs/a"));
  EXPECT_TRUE(back(R"({"definitions":{"a":{"$ref":"#/definitions/a"}}})", "#/definitions/a"));
}

TEST(SchemaReferences, LetRecursionBe) {
  EXPECT_FALSE(
      back(R"({"$defs":{"a":{"properties":{"next":{"$ref":"#/$defs/a"}}}}})", "#/$defs/a"));
  EXPECT_FALSE(back(R"({"$defs":{"a":{"items":{"$ref":"#/$defs/a"}}}})", "#/$defs/a"));
  EXPECT_FALSE(back(R"({"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"},{"$ref":"#/$defs/b"}]},
                                 "b":{"type":"null"}}})",
                    "#/$defs/a"));
  EXPECT_FALSE(back(R"({})", "#/$defs/a"));
  EXPECT_FALSE(back(R"({"$defs":7})", "#/$defs/a"));
}

}  // namespace
}  // namespace hearth::api
