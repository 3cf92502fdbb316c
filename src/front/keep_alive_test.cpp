// SPDX-License-Identifier: Apache-2.0
#include "front/keep_alive.h"

#include <gtest/gtest.h>

#include <limits>

namespace hearth::front {
namespace {

using namespace std::chrono_literals;

struct GoodCase {
  const char* text;
  KeepAlive meaning;
};

class KeepAliveReads : public testing::TestWithParam<GoodCase> {};

TEST_P(KeepAliveReads, WhatClientsSend) {
  const Result<KeepAlive> read = KeepAlive::parse(GetParam().text);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(*read, GetParam().meaning) << read->text();
}

INSTANTIATE_TEST_SUITE_P(
    Forms, KeepAliveReads,
    testing::Values(
        GoodCase{"0", KeepAlive::after(0s)}, GoodCase{"0s", KeepAlive::after(0s)},
        GoodCase{"0m", KeepAlive::after(0s)}, GoodCase{"-0", KeepAlive::after(0s)},
        GoodCase{"10", KeepAlive::after(10s)}, GoodCase{"1.5", KeepAlive::after(1500ms)},
        GoodCase{"5m", KeepAlive::after(5min)}, GoodCase{"+5m", KeepAlive::after(5min)},
        GoodCase{"1h30m", KeepAlive::after(90min)}, GoodCase{"1.5h", KeepAlive::after(90min)},
        GoodCase{"250ms", KeepAlive::after(250ms)}, GoodCase{"3\u00b5s", KeepAlive::after(3us)},
        GoodCase{"100ns", KeepAlive::after(100ns)}, GoodCase{"-1", KeepAlive::until_wanted()},
        GoodCase{"-1m", KeepAlive::until_wanted()},
        GoodCase{"-99999999999999h", KeepAlive::until_wanted()}));

class KeepAliveRefuses : public testing::TestWithParam<const char*> {};

TEST_P(KeepAliveRefuses, WhatMeansNothing) {
  const Result<KeepAlive> read = KeepAlive::parse(GetParam());
  ASSERT_FALSE(read) << read->text();
  EXPECT_EQ(read.error().code(), ErrorCode::kInvalid);
}

INSTANTIATE_TEST_SUITE_P(Forms, KeepAliveRefuses,
                         testing::Values("", "-", "+", ".", "m", "abc", "5 parsecs", "5 m", " 5",
                                         "5x", "5m3", "1..5", "1e3", "nan", "inf", "0x10", "--1",
                                         "9999999999h", "99999999999999999999999999"));

TEST(KeepAlive, TakesSecondsAsNumbers) {
  EXPECT_EQ(*KeepAlive::of_seconds(1.5), KeepAlive::after(1500ms));
  EXPECT_EQ(*KeepAlive::of_seconds(-0.001), KeepAlive::until_wanted());
  EXPECT_FALSE(KeepAlive::of_seconds(1e300));
  EXPECT_FALSE(KeepAlive::of_seconds(std::numeric_limits<double>::quiet_NaN()));
}

TEST(KeepAlive, WritesWhatItReads) {
  for (const char* text : {"0s", "1.5s", "5m0s", "1h30m0s", "-1"}) {
    EXPECT_EQ(KeepAlive::parse(text)->text(), text);
  }
}

}  // namespace
}  // namespace hearth::front
