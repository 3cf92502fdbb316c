// SPDX-License-Identifier: Apache-2.0
#include "front/prefix_reasons/normaliser.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace hearth::front {
namespace {

struct CutCase {
  const char* name;
  std::vector<std::string> patterns;
  std::string text;
  std::string left;
  int places;
};

class Cut : public ::testing::TestWithParam<CutCase> {};

TEST_P(Cut, TakesOutWhatTheStarsMatch) {
  std::string text = GetParam().text;
  EXPECT_EQ(PromptNormaliser{GetParam().patterns}.cut(text), GetParam().places);
  EXPECT_EQ(text, GetParam().left);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, Cut,
    ::testing::Values(
        CutCase{"RestOfTheLine",
                {"Current date: *"},
                "Hi.\nCurrent date: 2026-11-30\nBe kind.",
                "Hi.\nCurrent date: \nBe kind.",
                1},
        CutCase{"InsideALine",
                {"It is * o'clock"},
                "Now: It is 12:30 o'clock, go",
                "Now: It is  o'clock, go",
                1},
        CutCase{
            "EveryTimeInALine", {"<id>*</id>"}, "<id>1</id> <id>22</id>", "<id></id> <id></id>", 2},
        CutCase{"TwoStars", {"at * on *"}, "x at 5 on Monday\ny", "x at  on \ny", 2},
        CutCase{"BeginningOfALine", {"* UTC"}, "a\n12:30 UTC now", "a\n UTC now", 1},
        CutCase{"EveryLine", {"id: *"}, "id: 1\nid: 2", "id: \nid: ", 2},
        CutCase{"WindowsLines", {"id: *"}, "id: 1\r\nid: 2\r\n", "id: \r\nid: \r\n", 2},
        CutCase{"NothingThere", {"id: *"}, "id: \nno", "id: \nno", 0},
        CutCase{"NotOverLines", {"from*to"}, "from a\nb to", "from a\nb to", 0},
        CutCase{"SeveralPatterns",
                {"id: *", "x-billing-header: *"},
                "x-billing-header: cc=9\nid: 7",
                "x-billing-header: \nid: ",
                2},
        CutCase{"Umlauts",
                {"Gr\u00fc\u00dfe *!"},
                "Gr\u00fc\u00dfe J\u00fcrgen!",
                "Gr\u00fc\u00dfe !",
                1},
        CutCase{"WithoutPatterns", {}, "id: 7", "id: 7", 0},
        CutCase{"UnusablePattern", {"*", "abc"}, "abc", "abc", 0},
        CutCase{"Empty", {"id: *"}, "", "", 0}),
    [](const auto& test) { return std::string{test.param.name}; });

struct ApplyCase {
  const char* name;
  std::string messages;
  std::string left;  // empty: as it came
};

class Apply : public ::testing::TestWithParam<ApplyCase> {};

TEST_P(Apply, ChangesTheSystemTextOrTheFirstQuestion) {
  const auto outcome = PromptNormaliser{{"id: *"}}.apply(GetParam().messages);
  const bool changed = !GetParam().left.empty();
  EXPECT_EQ(outcome.messages, changed ? GetParam().left : GetParam().messages);
  EXPECT_EQ(outcome.places > 0, changed);
}

INSTANTIATE_TEST_SUITE_P(
    Messages, Apply,
    ::testing::Values(
        ApplyCase{"System",
                  R"([{"role":"system","content":"id: 7"},{"role":"user","content":"id: 8"}])",
                  R"([{"role":"system","content":"id: "},{"role":"user","content":"id: 8"}])"},
        ApplyCase{"Developer", R"([{"role":"developer","content":"id: 7"}])",
                  R"([{"role":"developer","content":"id: "}])"},
        ApplyCase{
            "Parts",
            R"([{"role":"system","content":[{"type":"text","text":"id: 7"},{"type":"image","text":"id: 7"}]}])",
            R"([{"role":"system","content":[{"type":"text","text":"id: "},{"type":"image","text":"id: 7"}]}])"},
        ApplyCase{
            "FirstUser",
            R"([{"role":"user","content":"id: 7"},{"role":"assistant","content":"id: 7"},{"role":"user","content":"id: 9"}])",
            R"([{"role":"user","content":"id: "},{"role":"assistant","content":"id: 7"},{"role":"user","content":"id: 9"}])"},
        ApplyCase{"SystemWithoutIt",
                  R"([{"role":"system","content":"Hi"},{"role":"user","content":"id: 8"}])", ""},
        ApplyCase{"SystemWithoutText", R"([{"role":"system"},{"role":"user","content":"id: 8"}])",
                  R"([{"role":"system"},{"role":"user","content":"id: "}])"},
        ApplyCase{"NoList", R"({"role":"system","content":"id: 7"})", ""},
        ApplyCase{"NoJson", "[{", ""}, ApplyCase{"NoMessages", "", ""},
        ApplyCase{"OddShapes",
                  R"([1,"a",null,[],{"role":7},{"role":"system","content":[1,{"type":2}]}])", ""},
        ApplyCase{"StaysByteByByte", R"( [ {"role": "system", "content": "\u00e4"} ] )", ""}),
    [](const auto& test) { return std::string{test.param.name}; });

struct PatternCase {
  const char* name;
  std::string pattern;
  std::string_view complaint;  // empty: it can be used
};

class Pattern : public ::testing::TestWithParam<PatternCase> {};

TEST_P(Pattern, IsTakenOrRefusedWithAReason) {
  const Result<> checked = check_normalise_pattern(GetParam().pattern);
  EXPECT_EQ(checked.has_value(), GetParam().complaint.empty());
  if (checked) return;
  EXPECT_NE(checked.error().message().find(GetParam().complaint), std::string::npos)
      << checked.error().message();
}

INSTANTIATE_TEST_SUITE_P(
    Patterns, Pattern,
    ::testing::Values(PatternCase{"Usual", "Current date: *", ""},
                      PatternCase{"NoStar", "Current date:", "a * in each"},
                      PatternCase{"Empty", "", "a * in each"},
                      PatternCase{"OnlyAStar", "*", "at least 3"},
                      PatternCase{"HardlyMore", "a *  b", "at least 3"},
                      PatternCase{"TwoSideBySide", "date: **", "between two *"},
                      PatternCase{"Lines", "a\nb: *", "one line"},
                      PatternCase{"ManyStars", "a*b*c*d*e*f*g*h*i*", "at most 8"},
                      PatternCase{"Long", std::string(200, 'a') + "*", "200 bytes"}),
    [](const auto& test) { return std::string{test.param.name}; });

TEST(Normaliser, LeavesWhatLiesBeyondItsBounds) {
  const PromptNormaliser normaliser{{"id: *"}};
  std::string text = "id: 7\n" + std::string(PromptNormaliser::kLongestText, 'x') + "\nid: 8";
  EXPECT_EQ(normaliser.cut(text), 1);
  EXPECT_TRUE(text.ends_with("\nid: 8"));
  EXPECT_TRUE(text.starts_with("id: \n"));
}

// What is cut is only what stars may match: literals stay, in their order; nothing more is cut the
// second time; and whatever the text, the other lines are as they were.
TEST(Normaliser, TwiceIsOnceWhateverTheText) {
  const PromptNormaliser normaliser{{"id: *", "<t>*</t>"}};
  constexpr std::string_view kPieces[] = {"id: ", "<t>", "</t>", "\n", "x", "7", " ", "\r\n", "<"};
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random{seed};
    std::string text;
    for (int i = 0; i < 40; ++i) text += kPieces[random.next() % std::size(kPieces)];
    std::string once = text;
    normaliser.cut(once);
    EXPECT_LE(once.size(), text.size());
    EXPECT_EQ(std::ranges::count(once, '\n'), std::ranges::count(text, '\n'));
    std::string twice = once;
    EXPECT_EQ(normaliser.cut(twice), 0) << seed << ": " << text;
    EXPECT_EQ(twice, once);
  }
}

}  // namespace
}  // namespace hearth::front
