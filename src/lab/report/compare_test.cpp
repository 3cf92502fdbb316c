// SPDX-License-Identifier: Apache-2.0
#include "lab/report/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "lab/report/sample_run.h"
#include "lab/report/terminal.h"

namespace hearth::lab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Change& change_of(const Comparison& comparison, const std::string& side,
                        const std::string& arm) {
  for (const Change& each : comparison.changes) {
    if (each.side == side && each.arm == arm) return each;
  }
  throw std::runtime_error{"not compared"};
}

Comparison with(double factor, int blocks = 15) {
  return compare(sample::info(), sample::rows(blocks), sample::info(),
                 sample::rows(blocks, factor, 2));
}

struct CompareCase {
  const char* name;
  double factor;
  int blocks;
  ChangeVerdict verdict;
};
class Compare : public ::testing::TestWithParam<CompareCase> {};
TEST_P(Compare, Tells) {
  const Comparison comparison = with(GetParam().factor, GetParam().blocks);
  EXPECT_EQ(change_of(comparison, "hearth", "after reboot").verdict, GetParam().verdict);
  EXPECT_EQ(comparison.regressed(), GetParam().verdict == ChangeVerdict::kSlower);
}
INSTANTIATE_TEST_SUITE_P(
    Runs, Compare,
    ::testing::Values(CompareCase{"Slower", 1.5, 15, ChangeVerdict::kSlower},
                      CompareCase{"SlowerByFive", 1.5, 5, ChangeVerdict::kSlower},
                      CompareCase{"Faster", 0.6, 15, ChangeVerdict::kFaster},
                      CompareCase{"Same", 1, 15, ChangeVerdict::kNoneToTell},
                      CompareCase{"TooLittleToMatter", 1.02, 15, ChangeVerdict::kNoneToTell},
                      CompareCase{"TooFew", 3, 2, ChangeVerdict::kTooFew}),
    [](const auto& test) { return test.param.name; });

TEST(Comparison, OfRunsAlikeSeldomFindsAnything) {
  int alarms = 0;
  for (std::uint64_t seed = 10; seed < 60; ++seed) {
    const Comparison comparison = compare(sample::info(), sample::rows(8, 1, seed), sample::info(),
                                          sample::rows(8, 1, seed + 1000));
    if (comparison.regressed()) ++alarms;
  }
  EXPECT_LE(alarms, 3);
}

TEST(Comparison, PutsTheWorstFirst) {
  EXPECT_EQ(with(2).changes.front().verdict, ChangeVerdict::kSlower);
}

TEST(Comparison, SaysWhatOnlyOneRunHasAndWhatElseDiffers) {
  std::vector<Trial> before = sample::rows(3);
  std::vector<Trial> after = sample::rows(3);
  before.push_back(sample::row("ollama", "after reboot", 5));
  after.push_back(sample::row("hearth", "hollow", 5));
  RunInfo other = sample::info();
  other.model = "another";
  other.machine = R"({"kernel":"6.2","processors":{"online":2}})";
  const Comparison comparison = compare(sample::info(), before, other, after);
  EXPECT_THAT(comparison.only_before, ElementsAre("ollama: after reboot"));
  EXPECT_THAT(comparison.only_after, ElementsAre("hearth: hollow"));
  EXPECT_THAT(comparison.cautions,
              ElementsAre(HasSubstr("another"), HasSubstr("kernel: \"6.1\" and \"6.2\"")));
  EXPECT_THAT(with(1).cautions, IsEmpty());
}

TEST(Comparison, WarnsOfOtherOptionsAndVersions) {
  RunInfo before = sample::info(), after = sample::info();
  before.options = R"({"quick":false,"quiet_s":60,"models":["a"]})";
  after.options = R"({"quick":true,"quiet_s":60,"models":["b"]})";
  before.versions = {{"hearth", "1.0"}, {"ollama", "0.1"}};
  after.versions = {{"hearth", "1.1"}, {"ollama", "0.1"}};
  const std::vector<Trial> rows = sample::rows(3);
  EXPECT_THAT(compare(before, rows, after, rows).cautions,
              ElementsAre("the options differ in quick: false and true",
                          "the versions of hearth differ: 1.0 and 1.1"));
}

TEST(Comparison, OfRunsWithNothingInCommonSaysSo) {
  const Comparison comparison =
      compare(sample::info(), sample::rows(3), sample::info(),
              {sample::row("ollama", "hollow", 5), sample::row("ollama", "hollow", 6)});
  EXPECT_TRUE(comparison.changes.empty());
  TextLook look;
  look.terminal = true;
  EXPECT_THAT(terminal_text(comparison, look), HasSubstr("NOTHING IN COMMON"));
}

TEST(Comparison, IsPrintedForPeopleAndForScripts) {
  const Comparison comparison = with(2);
  TextLook look;
  look.terminal = true;
  EXPECT_THAT(terminal_text(comparison, look), HasSubstr("REGRESSION: 3 slower, 0 faster, of 6"));
  EXPECT_THAT(terminal_text(comparison, {}), HasSubstr("after reboot\thearth\tslower\t"));
  const auto parsed = parse_json(to_json(comparison));
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->at("regressed").as_bool());
}

}  // namespace
}  // namespace hearth::lab
