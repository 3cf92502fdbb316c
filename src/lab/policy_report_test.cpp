// SPDX-License-Identifier: Apache-2.0
#include "lab/policy_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "policy/household/generator.h"
#include "policy/household/league.h"

namespace hearth::lab {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

PolicyScores two_days() { return household::play_all(household::generate(3, 2), {}); }

TEST(PolicyReport, JsonHasEveryPolicyWithItsFigures) {
  const PolicyScores scores = two_days();
  const auto all = boost::json::parse(policy_json(scores)).as_array();
  ASSERT_EQ(all.size(), scores.size());
  std::string names;
  for (const auto& one : all) names += std::string{one.at("policy").as_string()} + ' ';
  for (const char* name : {"ollama", "lru", "clairvoyant", "hearth"}) {
    EXPECT_THAT(names, HasSubstr(name));
  }
  for (const char* key :
       {"cold_starts", "cold_seconds", "gb_hours", "demand_gb", "prewarm_gb", "p99_wait_s"}) {
    EXPECT_TRUE(all.front().as_object().contains(key)) << key;
  }
}

TEST(PolicyReport, TheTableHasALineForEach) {
  const PolicyScores scores = two_days();
  const std::string table = policy_table(scores);
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'),
            static_cast<std::ptrdiff_t>(scores.size()) + 1);
}

TEST(PolicyReport, ThePictureIsDrawnBestFirstAndTakesNoMarkup) {
  household::Score bad, good;
  bad.strategy = "<script>";
  bad.cold_seconds = 100;
  good.strategy = "hearth";
  good.cold_seconds = 10;
  const std::string svg = policy_picture({bad, good}, "a < b");
  EXPECT_LT(svg.find("hearth"), svg.find(">script<"));
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
}

}  // namespace
}  // namespace hearth::lab
