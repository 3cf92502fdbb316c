// SPDX-License-Identifier: Apache-2.0
#include "api/modules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/anthropic/requests.h"
#include "api/ollama/requests.h"
#include "api/openai/requests.h"

namespace hearth::api {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;

constexpr const char* kMessages = R"("messages":[{"role":"user","content":"hi"}])";
constexpr const char* kModules = R"("hearth":{"modules":["house","tools"],"approximate":true})";

json::object body(const std::string& members) {
  return json::parse(R"({"model":"m","max_tokens":9,)" + members + "}").as_object();
}

template <class T>
void expect_named(const Result<T>& parsed) {
  ASSERT_TRUE(parsed) << parsed.error().message();
  EXPECT_THAT(parsed->generate.options.modules, ElementsAre("house", "tools"));
  EXPECT_TRUE(parsed->generate.options.approximate);
}

TEST(Modules, AreNamedInAllDialects) {
  const json::object chat = body(std::string{kMessages} + "," + kModules);
  expect_named(openai::parse_chat(chat));
  expect_named(ollama::parse_chat(chat));
  expect_named(anthropic::parse_messages(chat));
  expect_named(anthropic::parse_count(chat));
  expect_named(ollama::parse_generate(body(std::string{R"("prompt":"hi",)"} + kModules)));
}

template <class T>
std::string field_of(const Result<T>& parsed) {
  if (parsed) return "";
  EXPECT_EQ(parsed.error().code(), ErrorCode::kInvalid);
  return parsed.error().field();
}

TEST(Modules, HaveNoPlaceInRawPrompts) {
  const std::string prompt = std::string{R"("prompt":"hi",)"} + kModules;
  EXPECT_EQ(field_of(openai::parse_completion(body(prompt))), "hearth.modules");
  EXPECT_EQ(field_of(ollama::parse_generate(body(R"("raw":true,)" + prompt))), "hearth.modules");
  EXPECT_EQ(field_of(ollama::parse_chat(body(kModules))), "hearth.modules");
  EXPECT_EQ(field_of(openai::parse_completion(body(R"("prompt":"hi","hearth":{})"))), "");
}

struct HearthCase {
  const char* name;
  const char* hearth;
  const char* field;
};
class HearthMember : public testing::TestWithParam<HearthCase> {};

TEST_P(HearthMember, IsReadOrNamesTheField) {
  const std::string members = std::string{kMessages} + R"(,"hearth":)" + GetParam().hearth;
  EXPECT_EQ(field_of(openai::parse_chat(body(members))), GetParam().field);
}

INSTANTIATE_TEST_SUITE_P(
    Fields, HearthMember,
    testing::Values(
        HearthCase{"Null", "null", ""}, HearthCase{"Empty", "{}", ""},
        HearthCase{"NoModules", R"({"modules":[]})", ""},
        HearthCase{"Text", R"("house")", "hearth"},
        HearthCase{"ModulesAsText", R"({"modules":"house"})", "hearth.modules"},
        HearthCase{"ANumber", R"({"modules":["a",3]})", "hearth.modules[1]"},
        HearthCase{"AnEmptyName", R"({"modules":[""]})", "hearth.modules[0]"},
        HearthCase{"Twice", R"({"modules":["a","b","a"]})", "hearth.modules[2]"},
        HearthCase{"Approximate", R"({"approximate":"yes"})", "hearth.approximate"},
        HearthCase{"Unknown", R"({"module":["a"]})", "hearth.module"},
        HearthCase{"TooMany",
                   R"({"modules":["1","2","3","4","5","6","7","8","9","10","11","12","13","14",)"
                   R"("15","16","17"]})",
                   "hearth.modules"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth::api
