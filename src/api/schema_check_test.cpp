// SPDX-License-Identifier: Apache-2.0
#include "api/schema_check.h"

#include <gtest/gtest.h>

namespace hearth::api {
namespace {

// The path at fault; empty when all is well.
std::string refused_at(const char* schema, SchemaUse use) {
  const boost::json::value parsed = boost::json::parse(schema);
  Fields::FirstError error;
  check_schema(Fields{parsed.get_object(), "format", error}, use);
  return error ? error->field() : "";
}

struct SchemaCase {
  const char* name;
  const char* schema;
  const char* path;       // in a reply's schema
  const char* parameter;  // in a tool's parameters
};

class SchemaCheck : public testing::TestWithParam<SchemaCase> {};

TEST_P(SchemaCheck, NamesWhatCannotBeFollowed) {
  EXPECT_EQ(refused_at(GetParam().schema, SchemaUse::kReply), GetParam().path);
  EXPECT_EQ(refused_at(GetParam().schema, SchemaUse::kParameters), GetParam().parameter);
}

INSTANTIATE_TEST_SUITE_P(
    Schemas, SchemaCheck,
    testing::Values(
        SchemaCase{"Plain", R"({"type":"object","properties":{"a":{"type":"integer"}}})", "", ""},
        SchemaCase{"Date", R"({"type":"string","pattern":"^[0-9]{4}-[0-9]{2}$"})", "", ""},
        SchemaCase{"OwnNames", R"({"properties":{"not":{"type":"null"},"if":{}}})", "", ""},
        SchemaCase{"Data", R"({"enum":[{"not":1}],"default":{"multipleOf":2}})", "", ""},
        SchemaCase{"Flags", R"({"uniqueItems":false})", "", ""},
        SchemaCase{"Bomb", R"({"pattern":"^((((a?){40}){40}){40})$"})", "format.pattern",
                   "format.pattern"},
        SchemaCase{"SmallBomb", R"({"pattern":"^((a?){40}){40}$"})", "format.pattern",
                   "format.pattern"},
        SchemaCase{"Optional", R"({"pattern":"^(a?){900}$"})", "format.pattern", "format.pattern"},
        SchemaCase{"DeepOptional", R"({"pattern":"^(((a?)b)){900}$"})", "format.pattern",
                   "format.pattern"},
        SchemaCase{"Nested", R"({"pattern":"^([a-z]{1,8}-){3}$"})", "", ""},
        SchemaCase{"HugeCount", R"({"pattern":"^a{99999999999999999999}$"})", "format.pattern",
                   "format.pattern"},
        SchemaCase{"Unbalanced", R"({"pattern":"^(a$"})", "format.pattern", "format.pattern"},
        SchemaCase{"Escaped", R"({"pattern":"^\\($"})", "", ""},
        SchemaCase{"Unanchored", R"({"pattern":"abc"})", "format.pattern", ""},
        SchemaCase{"Lookahead", R"({"pattern":"^(?=a)a$"})", "format.pattern", ""},
        SchemaCase{"Items", R"({"items":{"type":"array","maxItems":1000000000}})",
                   "format.items.maxItems", "format.items.maxItems"},
        SchemaCase{"Contradiction", R"({"anyOf":[{"minimum":5,"maximum":3}]})",
                   "format.anyOf[0].minimum", "format.anyOf[0].minimum"},
        SchemaCase{"Not", R"({"not":{}})", "format.not", ""},
        SchemaCase{"MultipleOf", R"({"$defs":{"n":{"multipleOf":7}}})", "format.$defs.n.multipleOf",
                   ""}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth::api
