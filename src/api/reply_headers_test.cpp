// SPDX-License-Identifier: Apache-2.0
#include "api/reply_headers.h"

#include <gtest/gtest.h>

#include <chrono>

#include "timeline/response_class.h"

namespace hearth::api {
namespace {

using std::chrono::seconds;

TEST(ReportHeaders, ColdLayerOnlyWhenCold) {
  RequestReport report;
  report.response_class = ResponseClass::kLoadCold;
  http::Headers headers;
  add_report_headers(headers, "r7", report);
  EXPECT_EQ(http::header_of(headers, "X-Request-Id"), "r7");
  EXPECT_EQ(http::header_of(headers, "X-Hearth-Class"), "load-cold");
  EXPECT_EQ(http::header_of(headers, "X-Hearth-Cold-Layer"), "weights");
  headers.clear();
  report.response_class = ResponseClass::kWarm;
  add_report_headers(headers, "r7", report);
  EXPECT_EQ(http::header_of(headers, "X-Hearth-Class"), "warm");
  EXPECT_FALSE(http::header_of(headers, "X-Hearth-Cold-Layer"));
}

TEST(ReportHeaders, SayNothingThatIsNotKnown) {
  http::Headers headers;
  add_report_headers(headers, "r7", RequestReport{});
  ASSERT_EQ(headers.size(), 1U);
  EXPECT_EQ(headers[0].name, "X-Request-Id");
}

TEST(ReportHeaders, SayWhatAPromptLost) {
  RequestReport report;
  report.dropped_messages = 2;
  report.dropped_tokens = 31;
  http::Headers headers;
  add_report_headers(headers, "r7", report);
  EXPECT_EQ(http::header_of(headers, "X-Hearth-Truncated"), "messages=2, tokens=31");
}

std::optional<Duration> wait_of(const char* value) {
  http::HttpRequest request;
  request.headers.push_back({"Prefer", value});
  return preferred_wait(request);
}

TEST(PreferredWait, ReadsItAmongOthers) {
  EXPECT_EQ(wait_of("wait=5"), Duration{seconds{5}});
  EXPECT_EQ(wait_of("respond-async, wait = 0"), Duration{seconds{0}});
  EXPECT_EQ(wait_of("wait=\"10\"; foo"), Duration{seconds{10}});
}

TEST(PreferredWait, MalformedCountsAsUnsaid) {
  for (const char* value :
       {"", "wait", "wait=", "wait=-1", "wait=x", "wait=999999999", "waits=3"}) {
    EXPECT_FALSE(wait_of(value)) << value;
  }
  EXPECT_FALSE(preferred_wait(http::HttpRequest{}));
}

}  // namespace
}  // namespace hearth::api
