// SPDX-License-Identifier: Apache-2.0
#include "api/grammar_check.h"

#include <gtest/gtest.h>

#include <string>

namespace hearth::api {
namespace {

struct GrammarCase {
  const char* name;
  std::string grammar;
  std::string complaint;  // a part of it; empty: all is well
};

class GrammarCheck : public testing::TestWithParam<GrammarCase> {};
TEST_P(GrammarCheck, TakesItOrSaysWhy) {
  const auto checked = check_grammar(GetParam().grammar);
  if (GetParam().complaint.empty()) {
    EXPECT_TRUE(checked) << checked.error().message();
    return;
  }
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code(), ErrorCode::kInvalid);
  EXPECT_NE(checked.error().message().find(GetParam().complaint), std::string::npos)
      << checked.error().message();
}

std::string times(int count, const std::string& text) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

constexpr auto kName = [](const auto& test) { return test.param.name; };

INSTANTIATE_TEST_SUITE_P(
    Good, GrammarCheck,
    testing::Values(
        GrammarCase{"Text", R"(root ::= "yes" | "no")", ""},
        GrammarCase{"Lines", "# a comment\nroot ::= (\n  \"a\" | # another\n  b\n)\n\nb ::= [0-9]+",
                    ""},
        GrammarCase{"Escapes", R"(root ::= "\"\\\n\x41\u00e9\U0001F525" [\]\-^a-z] [^"\\])", ""},
        GrammarCase{"Repeats", R"(root ::= "a"{2} "b"{2,} "c"{2,5} "d"{0,3} .* "e"?)", ""},
        GrammarCase{"Windows", "root ::= \"a\"\r\nb ::= \"c\"\r\n", ""},
        GrammarCase{"Tokens", R"(root ::= <think> !<[7]>* "x")", ""},
        GrammarCase{"Recursion", R"g(root ::= "(" root? ")")g", ""},
        GrammarCase{"EmptyText", R"(root ::= "" | "a")", ""},
        GrammarCase{"AfterEmpty", "root ::= ws \"a\" root?\nws ::= [ \\t]*", ""},
        GrammarCase{"ManyTimes", R"(root ::= [a-z]{0,2000})", ""},
        GrammarCase{"RowOfHundred", "root ::= " + times(100, "\"a\"? "), ""},
        GrammarCase{"RowsBetweenTexts", "root ::= " + times(300, "\"a\"? \"b\" "), ""}),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Bad, GrammarCheck,
    testing::Values(
        GrammarCase{"Nothing", "", "no rule named root"},
        GrammarCase{"NoRoot", R"(start ::= "a")", "no rule named root"},
        GrammarCase{"OnTheNextLine", "root ::= \"a\"\n  | b", "line 2: the name of a rule"},
        GrammarCase{"UndefinedRule", "root ::= \"a\" | b", "line 1: there is no rule b"},
        GrammarCase{"NoSign", "root = \"a\"", "line 1: ::= is expected"},
        GrammarCase{"OpenText", "root ::= \"a", "a text has no end"},
        GrammarCase{"OpenSet", "root ::= [a", "a set of characters has no end"},
        GrammarCase{"OpenGroup", "root ::= (\"a\"", ") is expected"},
        GrammarCase{"Closed", "root ::= \"a\")", "')' has no place here"},
        GrammarCase{"OpenToken", "root ::= <think", "a token has no end"},
        GrammarCase{"Escape", R"(root ::= "\q")", "\\q is no escape"},
        GrammarCase{"Hex", R"(root ::= "\u12g4")", "4 hexadecimal digits"},
        GrammarCase{"Line", "root ::= a\na ::= \"x\"\n\n?", "line 4: the name of a rule"},
        GrammarCase{"Reference", "%llguidance {}", "the name of a rule"},
        GrammarCase{"Star", "root ::= *", "* repeats nothing"},
        GrammarCase{"StarOfEmptyText", R"(root ::= ""*)", "* repeats nothing"},
        GrammarCase{"Backwards", R"(root ::= "a"{5,2})", "ends before it begins"},
        GrammarCase{"NoCount", R"(root ::= "a"{,2})", "a count is expected"},
        GrammarCase{"OpenCount", R"(root ::= "a"{2)", "} is expected"},
        GrammarCase{"TooOften", R"(root ::= "a"{2001})", "more than 2000 times"},
        GrammarCase{"MuchTooOften", R"(root ::= "a"{1,99999999999999999999})", "2000 times"},
        GrammarCase{"Itself", R"(root ::= root "a" | "b")", "rule root begins with itself"},
        GrammarCase{"ItselfAfterEmpty", "root ::= ws root \"a\"\nws ::= \" \"?",
                    "begins with itself"},
        GrammarCase{"ItselfByOthers", "root ::= a\na ::= b? c\nb ::= \"x\"\nc ::= root",
                    "begins with itself"},
        GrammarCase{"EndlessEmpty", R"(root ::= ("a"?)*)", "repeated without a bound"},
        GrammarCase{"EndlessEmptyRule", "root ::= ws+\nws ::= \" \"*", "repeated without a bound"},
        GrammarCase{"Nested", R"(root ::= ("a"{1,50}){1,50})", "come to more than 100"},
        GrammarCase{"NestedByRule", "root ::= a{1,101}\na ::= \"x\"+", "come to more than 100"},
        GrammarCase{"NestedTwice", R"(root ::= "a"{1,50}{1,50})", "come to more than 100"},
        GrammarCase{"Row", "root ::= " + times(101, "\"a\"? "), "100 parts in a row"},
        GrammarCase{"RowByTimes", R"(root ::= ("a" | ""){101})", "100 parts in a row"},
        GrammarCase{"RowByRules", "root ::= a a a\na ::= " + times(40, "\"x\"? "),
                    "100 parts in a row"},
        GrammarCase{"Deep", "root ::= " + times(65, "(") + "\"a\"" + times(65, ")"), "64 deep"},
        GrammarCase{"Long", "root ::= \"a\" #" + times(70000, "x"), "64 KiB"},
        GrammarCase{"Nul", std::string{"root ::= \"a\0\"", 13}, "no NUL"}),
    kName);

TEST(GrammarCheckOfMany, RulesAndGroupsAreCounted) {
  std::string grammar = "root ::= \"a\"";
  for (int i = 0; i < 2001; ++i) grammar += "\nr" + std::to_string(i) + " ::= \"b\"";
  const auto checked = check_grammar(grammar);
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().message().find("2000 rules"), std::string::npos);
}

}  // namespace
}  // namespace hearth::api
