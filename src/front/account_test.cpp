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

struct ReadCase {
  const char* name;
  Bytes read;     // from devices, during the load
  Bytes missing;  // of the load set, before it
  Bytes stored;   // of prompt state, read from disk
  ResponseClass expected;
};
void PrintTo(const ReadCase& c, std::ostream* out) { *out << c.name; }
class ReadsOfALoad : public ::testing::TestWithParam<ReadCase> {};

// A worker reads stored prompt state while its weights come in, and the kernel counts both.
TEST_P(ReadsOfALoad, AreOfTheModelsFilesOnly) {
  RequestContext context;
  Account account{"r1", context, 0};
  LoadRecord load;
  load.loaded.bytes_read = GetParam().read;
  load.loaded.missing = GetParam().missing;
  account.add_load(load);
  wire::StartedMessage started = started_at(context.first_byte);
  started.prefix.disk_bytes = GetParam().stored;
  account.add_started(started, context.first_byte + 40ms);
  EXPECT_EQ(account.report().response_class, GetParam().expected);
  EXPECT_EQ(account.report().bytes_read, GetParam().read);
}

INSTANTIATE_TEST_SUITE_P(
    Account, ReadsOfALoad,
    ::testing::Values(ReadCase{"BlocksAlone", 40_MiB, Bytes{}, 40_MiB, ResponseClass::kLoadCold},
                      ReadCase{"BlocksAndPages", 90_MiB, 50_MiB, 40_MiB,
                               ResponseClass::kStorageCold},
                      ReadCase{"PagesAlone", 50_MiB, 50_MiB, 40_MiB, ResponseClass::kStorageCold},
                      ReadCase{"NeitherMuch", 1_MiB, 1_MiB, 40_MiB, ResponseClass::kLoadCold}),
    [](const auto& test) { return test.param.name; });

TEST(Account, RestoringIsAStageAndNoSaving) {
  RequestContext context;
  context.first_byte = TimePoint{} + 1s;
  Account account{"r1", context, 0};
  account.rates.prefill_tokens_per_s = 1000;
  wire::StartedMessage started;
  started.prompt_tokens = 300;
  started.cached_tokens = 256;
  const TimePoint begun = context.first_byte;
  started.stages = {Stage{StageKind::kRestore, begun, begun + 30ms, 9_MiB},
                    Stage{StageKind::kPrefill, begun + 20ms, begun + 60ms, Bytes{}}};
  account.add_started(started, begun + 60ms);
  const RequestReport report = account.report();
  EXPECT_EQ(report.timings.total, 60ms);
  EXPECT_EQ(report.timings.other, Duration{});
  EXPECT_EQ(report.timings.overlap, 10ms);
  ASSERT_TRUE(report.avoided.prefix);
  EXPECT_EQ(report.avoided.prefix->time, 256ms - 20ms) << "the rest of it ran beside prefill";
  EXPECT_EQ(report.response_class, ResponseClass::kWarm);
}

}  // namespace
}  // namespace hearth::front
