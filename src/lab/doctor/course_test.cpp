// SPDX-License-Identifier: Apache-2.0
#include "lab/doctor/course.h"

#include <gtest/gtest.h>

#include <vector>

namespace hearth::lab {
namespace {

constexpr std::int64_t kDay = 86'400'000'000;
constexpr std::int64_t kApplied = 1000 * kDay;
constexpr std::int64_t kNow = kApplied + kDay / 24;  // an hour later

const Applied kPin{"127.0.0.1:1", "weights.asked", "smol", "hearth pin smol", kApplied};

std::vector<PastReply> replies(int count, int cold, std::int64_t at, double cost_ms = 1000) {
  std::vector<PastReply> made;
  for (int i = 0; i < count; ++i) {
    PastReply one;
    one.started_us = at;
    one.model = "smol";
    one.response_class = i < cold ? "load-cold" : "warm";
    if (i < cold) one.code = "weights.asked";
    if (i < cold) one.cost_ms = cost_ms;
    made.push_back(std::move(one));
  }
  return made;
}

std::vector<PastReply> both(std::vector<PastReply> some, const std::vector<PastReply>& more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

struct CourseCase {
  const char* name;
  int after, cold;
  double cost_ms;
  Course::Verdict verdict;
};

class Courses : public ::testing::TestWithParam<CourseCase> {};

// Before: two days with 20 requests, 10 of them cold, of a second each.
TEST_P(Courses, AreToldByTheSecondsARequest) {
  const CourseCase& c = GetParam();
  const auto before = replies(20, 10, kApplied - 2 * kDay);
  const auto after = replies(c.after, c.cold, kApplied + 1, c.cost_ms);
  const Course course = course_of(kPin, both(before, after), kNow);
  EXPECT_DOUBLE_EQ(course.before.per_day, 5);
  EXPECT_EQ(course.before.requests, 20);
  EXPECT_EQ(course.after.cold, c.cold);
  EXPECT_EQ(course.verdict, c.verdict) << name_of(course.verdict);
}

INSTANTIATE_TEST_SUITE_P(
    Course, Courses,
    ::testing::Values(CourseCase{"NobodyAsked", 0, 0, 0, Course::Verdict::kTooEarly},
                      CourseCase{"TwoAsked", 2, 0, 0, Course::Verdict::kTooEarly},
                      CourseCase{"Gone", 3, 0, 0, Course::Verdict::kGone},
                      CourseCase{"Better", 10, 2, 1000, Course::Verdict::kBetter},
                      CourseCase{"Same", 10, 5, 1000, Course::Verdict::kSame},
                      CourseCase{"Worse", 10, 9, 1000, Course::Verdict::kWorse}),
    [](const auto& test) { return test.param.name; });

TEST(Course, OtherModelsDoNotCount) {
  auto others = replies(5, 5, kApplied + 1);
  for (PastReply& one : others) one.model = "other";
  const Course course = course_of(kPin, others, kNow);
  EXPECT_EQ(course.after.requests, 0);
  EXPECT_EQ(course.verdict, Course::Verdict::kTooEarly);
}

TEST(Course, WhatWasAppliedIsReadBackAsItWasWritten) {
  const std::vector<Applied> two{kPin, {"[::1]:2", "disk.slow", "", "mv", 7}};
  const auto back = decode_applied(encode(two));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, two);
  EXPECT_FALSE(decode_applied("{"));
  EXPECT_FALSE(decode_applied("[]"));
  EXPECT_TRUE(decode_applied("{}")->empty());
}

}  // namespace
}  // namespace hearth::lab
