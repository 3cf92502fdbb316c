// SPDX-License-Identifier: Apache-2.0
#include "traces/tracer.h"

#include <gtest/gtest.h>

#include <string>

namespace hearth::traces {
namespace {

using Sending = Tracer::Sending;

TraceContext parent(const std::string& flags) {
  TraceContext context =
      *parse_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-" + flags);
  context.state = "a=1";
  return context;
}

TEST(Tracer, GoesOnWithTheAskersTrace) {
  Tracer tracer{1};
  tracer.set(Sending::kOn, 0);
  const auto trace = tracer.begin(parent("01"));
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->context.trace, parent("01").trace);
  EXPECT_EQ(trace->parent, parent("01").span);
  EXPECT_NE(trace->context.span, trace->parent);
  EXPECT_TRUE(trace->context.span.is_set());
  EXPECT_TRUE(trace->context.sampled);
  EXPECT_EQ(trace->context.state, "a=1");
}

TEST(Tracer, SendsNothingThatTheAskerDoesNot) {
  Tracer tracer{1};
  tracer.set(Sending::kOn, 100);
  const auto trace = tracer.begin(parent("00"));
  ASSERT_TRUE(trace);
  EXPECT_FALSE(trace->context.sampled);
}

TEST(Tracer, KnowsTheAskersTraceAlsoWhereNothingIsSent) {
  Tracer tracer{1};
  const auto trace = tracer.begin(parent("01"));
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->context.trace, parent("01").trace);
  EXPECT_FALSE(trace->context.sampled);
  EXPECT_FALSE(tracer.begin(std::nullopt));
}

TEST(Tracer, BeginsATrace) {
  Tracer tracer{1};
  tracer.set(Sending::kOn, 100);
  const auto one = tracer.begin(std::nullopt);
  const auto other = tracer.begin(std::nullopt);
  ASSERT_TRUE(one && other);
  EXPECT_TRUE(one->context.sampled);
  EXPECT_TRUE(one->context.random);
  EXPECT_FALSE(one->parent.is_set());
  EXPECT_NE(one->context.trace, other->context.trace);
}

TEST(Tracer, TakesAShareOfThem) {
  for (const int percent : {0, 1, 25, 50, 99, 100}) {
    Tracer tracer{42};
    tracer.set(Sending::kOn, percent);
    int taken = 0;
    for (int i = 0; i < 10'000; ++i) taken += tracer.begin(std::nullopt) ? 1 : 0;
    EXPECT_NEAR(taken, percent * 100, percent % 100 == 0 ? 0 : 200) << percent;
  }
}

}  // namespace
}  // namespace hearth::traces
