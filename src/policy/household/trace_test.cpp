// SPDX-License-Identifier: Apache-2.0
#include "policy/household/trace.h"

#include <gtest/gtest.h>

namespace hearth::household {
namespace {

using namespace std::chrono_literals;

const std::string kHeading = "seconds,model,size_gb,service_s\n";

TEST(Trace, IsReadAndWritten) {
  const std::string csv = kHeading + "4.8,a,0.3,0.3\n53.8,b,4.6,15\n53.8,a,0.3,0.3\n";
  const auto trace = parse_trace(csv);
  ASSERT_TRUE(trace) << trace.error().message();
  ASSERT_EQ(trace->models.size(), 2U);
  EXPECT_EQ(trace->models[1].name, "b");
  EXPECT_EQ(trace->models[1].size, Bytes{4'600'000'000});
  ASSERT_EQ(trace->requests.size(), 3U);
  EXPECT_EQ(trace->requests[1].at, Duration{53'800ms});
  EXPECT_EQ(trace->requests[1].service, Duration{15s});
  EXPECT_EQ(trace->requests[2].model, 0U);
  EXPECT_EQ(to_csv(*trace), csv);
}

TEST(Trace, TakesLinesOfOtherSystemsAndNoLastNewline) {
  EXPECT_TRUE(parse_trace("seconds,model,size_gb,service_s\r\n1,a,1,1\r\n\r\n2,a,1,1"));
}

struct BadTrace {
  const char* name;
  const char* text;
  const char* message;
};

class TraceRefuses : public testing::TestWithParam<BadTrace> {};

TEST_P(TraceRefuses, WithTheLine) {
  const std::string text = GetParam().text;
  const auto trace = parse_trace(text.starts_with('!') ? text.substr(1) : kHeading + text);
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(trace.error().message(), GetParam().message);
}

constexpr const char* kOdd = "line 2: a number is missing or out of range";
INSTANTIATE_TEST_SUITE_P(
    Cases, TraceRefuses,
    testing::Values(
        BadTrace{"Nothing", "!", "the trace has no request"},
        BadTrace{"OnlyAHeading", "", "the trace has no request"},
        BadTrace{"NoHeading", "!1,a,1,1\n", "no \"seconds,model,size_gb,service_s\""},
        BadTrace{"ThreeFields", "1,a,1\n", "line 2: four fields are wanted"},
        BadTrace{"FiveFields", "1,a,1,1,1\n", "line 2: four fields are wanted"},
        BadTrace{"NoNumber", "x,a,1,1\n", kOdd}, BadTrace{"HalfANumber", "1,a,1,1s\n", kOdd},
        BadTrace{"NotANumber", "nan,a,1,1\n", kOdd}, BadTrace{"Endless", "1,a,1,inf\n", kOdd},
        BadTrace{"Negative", "-1,a,1,1\n", kOdd}, BadTrace{"TooLate", "1e12,a,1,1\n", kOdd},
        BadTrace{"NoName", "1,,1,1\n", "line 2: a model has no name or no size"},
        BadTrace{"NoSize", "1,a,0,1\n", "line 2: a model has no name or no size"},
        BadTrace{"TwoSizes", "1,a,1,1\n2,a,2,1\n", "line 3: a model has two sizes"},
        BadTrace{"BackInTime", "2,a,1,1\n1,a,1,1\n", "line 3: time goes back"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth::household
