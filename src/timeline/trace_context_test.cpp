// SPDX-License-Identifier: Apache-2.0
#include "timeline/trace_context.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hearth {
namespace {

constexpr const char* kTrace = "0af7651916cd43dd8448eb211c80319c";
constexpr const char* kSpan = "b7ad6b7169203331";

std::string parent(const std::string& version, const std::string& flags, const std::string& end) {
  return version + "-" + kTrace + "-" + kSpan + "-" + flags + end;
}

struct ParentCase {
  const char* name;
  std::string text;
  bool taken;
  bool sampled = false;
  bool random = false;
};

class Traceparent : public testing::TestWithParam<ParentCase> {};

TEST_P(Traceparent, IsTakenOrNot) {
  const auto context = parse_traceparent(GetParam().text);
  ASSERT_EQ(context.has_value(), GetParam().taken);
  if (!context) return;
  EXPECT_EQ(hex_of(context->trace), kTrace);
  EXPECT_EQ(hex_of(context->span), kSpan);
  EXPECT_EQ(context->sampled, GetParam().sampled);
  EXPECT_EQ(context->random, GetParam().random);
}

INSTANTIATE_TEST_SUITE_P(
    Headers, Traceparent,
    testing::Values(
        ParentCase{"Sampled", parent("00", "01", ""), true, true},
        ParentCase{"NotSampled", parent("00", "00", ""), true},
        ParentCase{"Random", parent("00", "03", ""), true, true, true},
        ParentCase{"UnknownFlags", parent("00", "f9", ""), true, true},
        ParentCase{"Blanks", " " + parent("00", "01", "\t"), true, true},
        ParentCase{"LaterVersion", parent("cc", "01", ""), true, true},
        ParentCase{"LaterVersionWithMore", parent("cc", "01", "-what-the-future"), true, true},
        ParentCase{"LaterVersionThenNoDash", parent("cc", "01", ".what"), false},
        ParentCase{"NoVersion", parent("ff", "01", ""), false},
        ParentCase{"ThisVersionWithMore", parent("00", "01", "-extra"), false},
        ParentCase{"CapitalsInVersion", parent("0A", "01", ""), false},
        ParentCase{"CapitalsInTrace", "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
                   false},
        ParentCase{"NoTrace", "00-00000000000000000000000000000000-b7ad6b7169203331-01", false},
        ParentCase{"NoSpan", "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", false},
        ParentCase{"ShortTrace", "00-0af7651916cd43dd8448eb211c8031-b7ad6b7169203331-01", false},
        ParentCase{"NoHex", "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01", false},
        ParentCase{"FlagsCut", parent("00", "0", ""), false},
        ParentCase{"OtherDashes", "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", false},
        ParentCase{"Empty", "", false}),
    [](const auto& test) { return test.param.name; });

TEST(TraceContext, IsWrittenAsItWasRead) {
  for (const char* flags : {"00", "01", "02", "03"}) {
    const std::string text = parent("00", flags, "");
    const auto context = parse_traceparent(text);
    ASSERT_TRUE(context);
    EXPECT_EQ(traceparent_of(*context), text);
  }
}

struct StateCase {
  const char* name;
  std::vector<std::string_view> values;
  std::string state;
};

class Tracestate : public testing::TestWithParam<StateCase> {};

TEST_P(Tracestate, IsKeptOrDropped) {
  EXPECT_EQ(tracestate_of(GetParam().values), GetParam().state);
}

INSTANTIATE_TEST_SUITE_P(Headers, Tracestate,
                         testing::Values(StateCase{"One", {"a=1"}, "a=1"},
                                         StateCase{"Several", {"a=1, b=2 ,c=3"}, "a=1,b=2,c=3"},
                                         StateCase{"TwoHeaders", {"a=1", "b=2"}, "a=1,b=2"},
                                         StateCase{"EmptyMembers", {"", "a=1,,b=2,"}, "a=1,b=2"},
                                         StateCase{"Tenant", {"1t@sys=x:y;z"}, "1t@sys=x:y;z"},
                                         StateCase{"CapitalKey", {"A=1"}, ""},
                                         StateCase{"NoValue", {"a="}, ""},
                                         StateCase{"NoEquals", {"a"}, ""},
                                         StateCase{"TwoEquals", {"a=b=c"}, ""},
                                         StateCase{"Control", {"a=\x01"}, ""},
                                         StateCase{"OneBadSpoilsAll", {"a=1", "b"}, ""}),
                         [](const auto& test) { return test.param.name; });

TEST(TraceContext, AStateIsBounded) {
  const std::string value(250, 'x');
  const std::string a = "a=" + value;
  const std::string b = "b=" + value;
  const std::string c = "c=" + value;
  const std::vector<std::string_view> three{a, b, c};
  EXPECT_EQ(tracestate_of(three), a + "," + b);
  std::string many;
  for (int i = 0; i < 33; ++i) many += "k" + std::to_string(i) + "=v,";
  const std::vector<std::string_view> too_many{many};
  EXPECT_EQ(tracestate_of(too_many), "");
}

}  // namespace
}  // namespace hearth
