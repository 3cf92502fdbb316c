// SPDX-License-Identifier: Apache-2.0
#include "front/account.h"

#include <gtest/gtest.h>

namespace hearth::front {
namespace {

using namespace literals;
using namespace std::chrono_literals;

wire::StartedMessage started_at(TimePoint start) {
  wire::StartedMessage started;
  started.prompt_tokens = 3;
  started.stages = {Stage{StageKind::kPrefill, start, start + 40ms, Bytes{}}};
  return started;
}

TEST(Account, WhatADriverCompiledLatelyIsAStageOverThePrefill) {
  RequestContext context;
  context.first_byte = TimePoint{} + 1s;
  const wire::StartedMessage started = started_at(context.first_byte);
  Account account{"r1", context, 0};
  account.add_started(started, context.first_byte + 40ms);
  account.add_late_compiles(started, 5_MiB);
  account.timeline.deliver(context.first_byte + 50ms);
  const RequestReport report = account.report();
  EXPECT_EQ(report.timings.time_in({StageKind::kCompile}), 40ms);
  EXPECT_EQ(report.timings.time_in({StageKind::kPrefill}), 50ms) << "what made the token";
  EXPECT_EQ(report.response_class, ResponseClass::kCompileCold);
}

TEST(Account, WithoutAnyThereIsNoStage) {
  RequestContext context;
  const wire::StartedMessage started = started_at(context.first_byte);
  Account account{"r1", context, 0};
  account.add_started(started, context.first_byte + 40ms);
  account.add_late_compiles(started, Bytes{});
  EXPECT_FALSE(account.timeline.has(StageKind::kCompile));
}

}  // namespace
}  // namespace hearth::front
