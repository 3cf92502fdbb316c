// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace hearth {
namespace {

TEST(ParseJson, TakesWhatTheStandardTakes) {
  const auto value = parse_json(" {\"a\":[1,-2.5,true,null,\"\\u00e9\\ud83d\\ude00\\u0000x\"]} \n");
  ASSERT_TRUE(value) << value.error().message();
  const boost::json::string& text = value->at("a").at(4).get_string();
  EXPECT_EQ(std::string(text.data(), text.size()), std::string("\xC3\xA9\xF0\x9F\x98\x80\0x", 8));
}

TEST(ParseJson, SkipsAByteOrderMark) { EXPECT_TRUE(parse_json("\xEF\xBB\xBF{}")); }

TEST(ParseJson, TakesNestingOfSixtyFour) {
  EXPECT_TRUE(parse_json(std::string(64, '[') + std::string(64, ']')));
  EXPECT_FALSE(parse_json(std::string(65, '[') + std::string(65, ']')));
}

struct BadCase {
  const char* name;
  std::string text;
  const char* part;  // of the message
};
class BadJson : public testing::TestWithParam<BadCase> {};
TEST_P(BadJson, IsInvalidAndSaysWhy) {
  const auto value = parse_json(GetParam().text);
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code(), ErrorCode::kInvalid);
  EXPECT_NE(value.error().message().find(GetParam().part), std::string::npos)
      << value.error().message();
}
INSTANTIATE_TEST_SUITE_P(
    Bodies, BadJson,
    testing::Values(BadCase{"Empty", "", "empty"}, BadCase{"Blank", " \r\n\t", "empty"},
                    BadCase{"OnlyMark", "\xEF\xBB\xBF", "empty"},
                    BadCase{"NotUtf8", "{\"a\":\"\xC3(\"}", "UTF-8"},
                    BadCase{"Utf16", std::string("\xFF\xFE{\0}\0", 6), "UTF-8"},
                    BadCase{"LoneHighSurrogate", "\"\\ud800\"", "byte"},
                    BadCase{"LoneLowSurrogate", "\"\\udc00\"", "byte"},
                    BadCase{"HighThenHigh", "\"\\ud800\\ud800\"", "byte"},
                    BadCase{"Deep", std::string(1000, '['), "byte 64"},
                    BadCase{"DeepObjects",
                            [] {
                              std::string text;
                              for (int i = 0; i < 1000; ++i) text += "{\"a\":";
                              return text;
                            }(),
                            "byte"},
                    BadCase{"Trailing", "{} x", "after the JSON value at byte 3"},
                    BadCase{"TwoValues", "{}{}", "after the JSON value"},
                    BadCase{"CutShort", "{\"a\":1", "byte 6"}, BadCase{"Comma", "[1,]", "byte"},
                    BadCase{"RawNewline", "\"a\nb\"", "byte"}, BadCase{"Nan", "NaN", "byte 0"},
                    BadCase{"RawNul", std::string("{}\0", 3), "byte 2"}),
    [](const auto& test) { return test.param.name; });

struct Utf8Case {
  const char* name;
  std::string text;
  bool valid;
  std::size_t complete;
  const char* repaired;
};
class Utf8 : public testing::TestWithParam<Utf8Case> {};
TEST_P(Utf8, IsJudged) {
  const Utf8Case& c = GetParam();
  EXPECT_EQ(is_utf8(c.text), c.valid);
  EXPECT_EQ(complete_utf8_prefix(c.text), c.complete);
  EXPECT_EQ(repair_utf8(c.text), c.repaired);
  EXPECT_TRUE(is_utf8(repair_utf8(c.text)));
}
#define BAD "\xEF\xBF\xBD"
INSTANTIATE_TEST_SUITE_P(
    Texts, Utf8,
    testing::Values(Utf8Case{"Empty", "", true, 0, ""}, Utf8Case{"Ascii", "abc", true, 3, "abc"},
                    Utf8Case{"Two", "\xC3\xA9", true, 2, "\xC3\xA9"},
                    Utf8Case{"TwoCut", "a\xC3", false, 1, "a" BAD},
                    Utf8Case{"Three", "\xE2\x82\xAC", true, 3, "\xE2\x82\xAC"},
                    Utf8Case{"ThreeCut", "a\xE2\x82", false, 1, "a" BAD BAD},
                    Utf8Case{"Four", "\xF0\x9F\x98\x80", true, 4, "\xF0\x9F\x98\x80"},
                    Utf8Case{"FourCutThree", "a\xF0\x9F\x98", false, 1, "a" BAD BAD BAD},
                    Utf8Case{"FourCutOne", "a\xF0", false, 1, "a" BAD},
                    Utf8Case{"LoneContinuation", "a\x80", false, 2, "a" BAD},
                    Utf8Case{"ManyContinuations", "\x80\x80\x80\x80", false, 4, BAD BAD BAD BAD},
                    Utf8Case{"Overlong", "\xC0\xAF", false, 2, BAD BAD},
                    Utf8Case{"OverlongThreeCut", "\xE0\x80", false, 2, BAD BAD},
                    Utf8Case{"Surrogate", "\xED\xA0\x80", false, 3, BAD BAD BAD},
                    Utf8Case{"SurrogateCut", "\xED\xA0", false, 2, BAD BAD},
                    Utf8Case{"BeyondUnicode", "\xF4\x90\x80\x80", false, 4, BAD BAD BAD BAD},
                    Utf8Case{"BeyondUnicodeCut", "\xF4\x90", false, 2, BAD BAD},
                    Utf8Case{"NeverALead", "a\xFF", false, 2, "a" BAD},
                    Utf8Case{"LeadThenAscii", "\xE2(", false, 2, BAD "("}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth
