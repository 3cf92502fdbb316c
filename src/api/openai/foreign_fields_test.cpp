// SPDX-License-Identifier: Apache-2.0
#include "api/openai/foreign_fields.h"

#include <gtest/gtest.h>

#include <string>

namespace hearth::api::openai {
namespace {

std::string refused_field(const std::string& text) {
  const boost::json::value body = boost::json::parse(text);
  Fields::FirstError error;
  refuse_foreign(Fields{body.get_object(), "", error});
  return error ? error->field() : std::string{};
}

struct ForeignCase {
  const char* name;
  const char* body;
  const char* field;  // empty: passes
};

class ForeignFields : public testing::TestWithParam<ForeignCase> {};

TEST_P(ForeignFields, AreRefusedUnlessTheySayWhatHappensAnyway) {
  EXPECT_EQ(refused_field(GetParam().body), GetParam().field);
}

INSTANTIATE_TEST_SUITE_P(
    Bodies, ForeignFields,
    testing::Values(ForeignCase{"None", R"({"user":"anna","metadata":{}})", ""},
                    ForeignCase{"Integer", R"({"mirostat":0})", ""},
                    ForeignCase{"Fraction", R"({"mirostat":0.0,"top_n_sigma":-1.0})", ""},
                    ForeignCase{"Another", R"({"mirostat":2})", "mirostat"},
                    ForeignCase{"Null", R"({"guided_json":null})", ""},
                    ForeignCase{"Object", R"({"guided_json":{}})", "guided_json"},
                    ForeignCase{"EmptyList", R"({"stop_token_ids":[]})", ""},
                    ForeignCase{"List", R"({"stop_token_ids":[2]})", "stop_token_ids"},
                    ForeignCase{"Flag", R"({"add_generation_prompt":true})", ""},
                    ForeignCase{"OtherFlag", R"({"add_generation_prompt":false})",
                                "add_generation_prompt"}),
    [](const auto& test) { return test.param.name; });

TEST(ForeignFields, EachSaysWhatToDoInstead) {
  for (const ForeignField& field : foreign_fields()) {
    EXPECT_FALSE(field.reason.empty()) << field.name;
  }
}

}  // namespace
}  // namespace hearth::api::openai
