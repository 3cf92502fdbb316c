// SPDX-License-Identifier: Apache-2.0
#include "engine/stop_matcher.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hearth::engine {
namespace {

struct StopCase {
  const char* name;
  std::vector<std::string> stops;
  std::vector<std::string> pieces;
  std::string text;  // all that gets out
  std::string stop;  // empty: none was found
};

class Stops : public testing::TestWithParam<StopCase> {};

TEST_P(Stops, Found) {
  StopMatcher matcher{GetParam().stops};
  std::string text;
  std::string stop;
  for (const std::string& piece : GetParam().pieces) {
    const auto outcome = matcher.feed(piece);
    text += outcome.text;
    if (outcome.stop == nullptr) continue;
    stop = *outcome.stop;
    break;
  }
  if (stop.empty()) text += matcher.flush();
  EXPECT_EQ(text, GetParam().text);
  EXPECT_EQ(stop, GetParam().stop);
}

std::vector<std::string> twenty_stops() {
  std::vector<std::string> stops;
  for (char c = 'a'; c < 'a' + 20; ++c) stops.push_back(std::string{"#"} + c + c);
  return stops;
}

INSTANTIATE_TEST_SUITE_P(
    StopMatcher, Stops,
    testing::Values(
        StopCase{"NoStops", {}, {"a", "b"}, "ab", ""},
        StopCase{"EmptyOneIsIgnored", {""}, {"a", "b"}, "ab", ""},
        StopCase{"WholePiece", {"STOP"}, {"go ", "STOP", " on"}, "go ", "STOP"},
        StopCase{"EqualToFirstPiece", {"Hi"}, {"Hi", " there"}, "", "Hi"},
        StopCase{"Straddles", {"STOP"}, {"go S", "TO", "P on"}, "go ", "STOP"},
        StopCase{"InsideOnePiece", {"b"}, {"abc"}, "a", "b"},
        StopCase{"PrefixThatWasNone", {"STOP"}, {"a ST", "ART"}, "a START", ""},
        StopCase{"PrefixAtTheEnd", {"STOP"}, {"a STO"}, "a STO", ""},
        StopCase{"OverlappingPrefix", {"aab"}, {"a", "a", "a", "b"}, "a", "aab"},
        StopCase{"CompleteFirstWins", {"abcd", "bc"}, {"abcd"}, "a", "bc"},
        StopCase{"CompleteFirstWinsCut", {"abcd", "bc"}, {"ab", "c", "d"}, "a", "bc"},
        StopCase{"LongerOfTwoThatEndTogether", {"c", "abc"}, {"xab", "c"}, "x", "abc"},
        StopCase{"Newlines", {"\n\n"}, {"line\n", "next", "\n", "\nend"}, "line\nnext", "\n\n"},
        StopCase{"TwentyStops", twenty_stops(), {"x#", "a", "b#t", "t!"}, "x#ab", "#tt"},
        StopCase{"Umlaut", {"ü"}, {"f", "ü", "r"}, "f", "ü"}),
    [](const auto& test) { return std::string{test.param.name}; });

TEST(StopMatcher, OutcomeDoesNotDependOnTheCuts) {
  const std::string text = "xxabxabcabd abab";
  const std::vector<std::string> stops{"abab", "bd", "abcx"};
  StopMatcher whole{stops};
  const auto expected = whole.feed(text);
  ASSERT_NE(expected.stop, nullptr);
  for (std::size_t size = 1; size < text.size(); ++size) {
    StopMatcher matcher{stops};
    std::string out;
    for (std::size_t at = 0; at < text.size(); at += size) {
      const auto outcome = matcher.feed(text.substr(at, size));
      out += outcome.text;
      if (outcome.stop != nullptr) break;
    }
    EXPECT_EQ(out, expected.text) << "pieces of " << size;
  }
}

}  // namespace
}  // namespace hearth::engine
