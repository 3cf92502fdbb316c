// SPDX-License-Identifier: Apache-2.0
#include "api/trace_parent.h"

#include <gtest/gtest.h>

#include "api/reply_headers.h"

namespace hearth::api {
namespace {

constexpr const char* kParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

http::HttpRequest with(http::Headers headers) {
  http::HttpRequest request;
  request.headers = std::move(headers);
  return request;
}

TEST(TraceParent, IsReadFromTheHeaders) {
  const auto context = trace_parent_of(
      with({{"TraceParent", kParent}, {"tracestate", "a=1"}, {"TRACESTATE", "b=2"}}));
  ASSERT_TRUE(context);
  EXPECT_EQ(traceparent_of(*context), kParent);
  EXPECT_EQ(context->state, "a=1,b=2");
}

TEST(TraceParent, ABadStateCostsOnlyItself) {
  const auto context = trace_parent_of(with({{"traceparent", kParent}, {"tracestate", "A"}}));
  ASSERT_TRUE(context);
  EXPECT_EQ(context->state, "");
}

TEST(TraceParent, IsNothingWithoutOneGoodHeader) {
  EXPECT_FALSE(trace_parent_of(with({})));
  EXPECT_FALSE(trace_parent_of(with({{"tracestate", "a=1"}})));
  EXPECT_FALSE(trace_parent_of(with({{"traceparent", "00-no"}, {"tracestate", "a=1"}})));
  EXPECT_FALSE(trace_parent_of(with({{"traceparent", kParent}, {"traceparent", kParent}})));
}

TEST(TraceParent, GoesBackWithTheReply) {
  RequestReport report;
  http::Headers headers;
  add_report_headers(headers, "r7", report);
  EXPECT_FALSE(http::header_of(headers, "traceparent"));
  report.trace.emplace();
  report.trace->context = *parse_traceparent(kParent);
  headers.clear();
  add_report_headers(headers, "r7", report);
  EXPECT_EQ(http::header_of(headers, "traceparent"), kParent);
}

}  // namespace
}  // namespace hearth::api
