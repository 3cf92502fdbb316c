// SPDX-License-Identifier: Apache-2.0
#include "front/prefix_reasons/recent_prompts.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/random.h"

namespace hearth::front {
namespace {

using Tokens = std::vector<int>;
const PromptSource kSource{"m", "d", "g"};

Tokens count(int from, int to) {
  Tokens tokens(static_cast<std::size_t>(to - from));
  std::iota(tokens.begin(), tokens.end(), from);
  return tokens;
}

Tokens operator+(Tokens a, const Tokens& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

struct DifferenceCase {
  const char* name;
  std::vector<Tokens> earlier;
  Tokens prompt;
  int position;  // -1: no difference
  int token;
};

class Difference : public ::testing::TestWithParam<DifferenceCase> {};

TEST_P(Difference, IsWhereTheNearestPromptIsLeft) {
  RecentPrompts recent;
  for (const Tokens& earlier : GetParam().earlier) recent.add(kSource, earlier);
  const auto nearest = nearest_of(recent.of(kSource), GetParam().prompt);
  const auto difference = nearest ? difference_of(*nearest, GetParam().prompt) : std::nullopt;
  EXPECT_EQ(difference ? difference->position : -1, GetParam().position);
  EXPECT_EQ(difference ? difference->token : 0, GetParam().token);
}

INSTANTIATE_TEST_SUITE_P(
    Prompts, Difference,
    ::testing::Values(
        DifferenceCase{"NothingBefore", {}, {1, 2}, -1, 0},
        DifferenceCase{"TheSame", {{1, 2}}, {1, 2}, -1, 0},
        DifferenceCase{"GoesOn", {{1, 2}}, {1, 2, 3}, -1, 0},
        DifferenceCase{"IsTheBeginning", {{1, 2, 3}}, {1, 2}, -1, 0},
        DifferenceCase{"Diverges", {{1, 2, 3, 4}}, {1, 2, 9, 4}, 2, 3},
        DifferenceCase{"LongestWins", {{1, 2, 7}, {1, 2, 3, 8}, {1, 6}}, {1, 2, 3, 4}, 3, 8},
        DifferenceCase{"NewestOfEquals", {{1, 2, 7}, {1, 2, 8}}, {1, 2, 3}, 2, 8},
        DifferenceCase{"ContinuedOfEquals", {{1, 2}, {1, 2, 8}}, {1, 2, 3}, -1, 0},
        DifferenceCase{"NothingInCommon", {{5, 6, 7}}, {1, 2, 3}, -1, 0},
        DifferenceCase{
            "AlikeAfterTheFirst", {Tokens{5} + count(100, 200)}, Tokens{6} + count(100, 200), 0, 5},
        DifferenceCase{"Empty", {{1}}, {}, -1, 0}),
    [](const auto& test) { return std::string{test.param.name}; });

struct ResumptionCase {
  const char* name;
  Tokens a, b;
  std::size_t at;
  int skipped_a;  // -1: none
  int skipped_b;
};

class Resumes : public ::testing::TestWithParam<ResumptionCase> {};

TEST_P(Resumes, WhereBothGoOnAlike) {
  const auto found = resumption(GetParam().a, GetParam().b, GetParam().at);
  EXPECT_EQ(found ? static_cast<int>(found->a) : -1, GetParam().skipped_a);
  EXPECT_EQ(found ? static_cast<int>(found->b) : 0, GetParam().skipped_b);
}

const Tokens kTail = count(100, 100 + static_cast<int>(kResumeFor));

INSTANTIATE_TEST_SUITE_P(
    Tails, Resumes,
    ::testing::Values(
        ResumptionCase{"Replaced", Tokens{1, 2} + kTail, Tokens{1, 3} + kTail, 1, 1, 1},
        ResumptionCase{"Inserted", Tokens{1} + kTail, Tokens{1, 3, 4} + kTail, 1, 0, 2},
        ResumptionCase{"Farthest", Tokens{1} + count(500, 532) + kTail,
                       Tokens{1} + count(600, 632) + kTail, 1, 32, 32},
        ResumptionCase{"TooFar", Tokens{1} + count(500, 533) + kTail,
                       Tokens{1} + count(600, 633) + kTail, 1, -1, 0},
        ResumptionCase{"TooShort", Tokens{1, 2} + count(100, 163), Tokens{1, 3} + count(100, 163),
                       1, -1, 0},
        ResumptionCase{"AtTheEnd", {1}, {1, 2}, 1, -1, 0}),
    [](const auto& test) { return std::string{test.param.name}; });

TEST(RecentPrompts, KeepDomainsApart) {
  RecentPrompts recent;
  recent.add({"m", "other", "g"}, Tokens{1, 2, 3});
  EXPECT_TRUE(recent.of(kSource).empty());
  recent.add({"n", "d", "g"}, Tokens{1, 2, 3});
  EXPECT_TRUE(recent.of(kSource).empty());
}

TEST(RecentPrompts, HoldTheNewestOfADomain) {
  RecentPrompts recent;
  for (int i = 0; i < 70; ++i) recent.add(kSource, Tokens{i});
  const auto prompts = recent.of(kSource);
  ASSERT_EQ(prompts.size(), RecentPrompts::kOfDomain);
  EXPECT_EQ(prompts.front().front(), 69);
  EXPECT_EQ(prompts.back().front(), 6);
}

TEST(RecentPrompts, ARepeatIsTheNewestAndTakesNoRoom) {
  RecentPrompts recent;
  recent.add(kSource, Tokens{1});
  recent.add(kSource, Tokens{2});
  const Bytes before = recent.size();
  recent.add(kSource, Tokens{1});
  EXPECT_EQ(recent.size(), before);
  EXPECT_EQ(recent.of(kSource).front().front(), 1);
}

TEST(RecentPrompts, ForgetWhatIsNamed) {
  RecentPrompts recent;
  recent.add({"m", "d1", "anna"}, Tokens{1});
  recent.add({"m", "d2", "ben"}, Tokens{1});
  recent.add({"n", "d3", "anna"}, Tokens{1});
  recent.forget("m", "anna");
  EXPECT_TRUE(recent.of({"m", "d1", "anna"}).empty());
  EXPECT_EQ(recent.of({"m", "d2", "ben"}).size(), 1U);
  recent.forget("", "anna");
  EXPECT_TRUE(recent.of({"n", "d3", "anna"}).empty());
  recent.forget("", {});
  EXPECT_EQ(recent.size(), Bytes{});
}

TEST(RecentPrompts, OfALongOneTheBeginningIsKept) {
  RecentPrompts recent;
  recent.add(kSource, Tokens(RecentPrompts::kLongest + 10, 7));
  EXPECT_EQ(recent.of(kSource).front().size(), RecentPrompts::kLongest);
}

TEST(RecentPrompts, StayWithinTheirBoundsWhateverComes) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random{seed};
    RecentPrompts recent;
    for (int i = 0; i < 300; ++i) {
      const PromptSource source{std::to_string(random.next() % 20),
                                std::to_string(random.next() % 3),
                                std::to_string(random.next() % 2)};
      const std::size_t length = random.next() % 50 == 0 ? 200'000 : random.next() % 400;
      recent.add(source, Tokens(length, static_cast<int>(random.next() % 1000)));
      if (random.next() % 40 == 0) recent.forget(source.model, source.group);
      EXPECT_LE(recent.of(source).size(), RecentPrompts::kOfDomain);
      EXPECT_LE(recent.size().count(), RecentPrompts::kModels * RecentPrompts::kOfModel.count());
    }
    recent.forget("", {});
    EXPECT_EQ(recent.size(), Bytes{}) << seed;
  }
}

}  // namespace
}  // namespace hearth::front
