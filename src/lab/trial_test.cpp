// SPDX-License-Identifier: Apache-2.0
#include "lab/trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/json.h"

namespace hearth::lab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Trial full() {
  Trial trial;
  trial.study = "classes";
  trial.side = "hearth";
  trial.arm = "page-cold 50 %";
  trial.block = 2;
  trial.order = 17;
  trial.repetition = 3;
  trial.started_wall_us = 1'700'000'000'123'456;
  trial.before.pages = 0.5;
  trial.before.pages_evicted = Bytes{0};
  trial.before.pages_by = "cachestat";
  trial.before.load_set = Bytes{98'362'432};
  trial.before.processes = 3;
  trial.before.mapped = true;
  trial.before.resident = Bytes{(std::uint64_t{1} << 53) + 1};
  trial.before.told = {{"weights", "ready"}};
  trial.effects.bytes_read = Bytes{1 << 20};
  trial.effects.major_faults = -1;
  trial.effects.outside_cores = 0.125;
  trial.effects.stall = {{"io", 0.25}};
  trial.effects.swapped = Bytes{4096};
  trial.timing.start_ms = 100.5;
  trial.timing.first_token_ms = 250.25;
  trial.timing.total_ms = 300;
  trial.timing.stages_ms = {{"read", 90}, {"prefill", 12.5}};
  trial.timing.cached_tokens = 0;
  trial.timing.generated_tokens = 16;
  trial.response_class = "storage-cold";
  trial.verdict_text = "half \"of it\"\nwas on the device, 0.5 s";
  trial.report = R"({"stages":[]})";
  trial.extra = {{"gap_s", 600}};
  trial.failure = "hung";
  trial.flags = {"busy: 0.6 cores", "state: pages 0.4"};
  return trial;
}

TEST(TrialRow, ComesBackAsItWas) {
  const Trial before = full();
  const std::string line = encode(before);
  EXPECT_THAT(line, Not(HasSubstr("\n")));
  const Result<Trial> after = decode_trial(line);
  ASSERT_TRUE(after) << after.error().message();
  EXPECT_EQ(encode(*after), line);
  EXPECT_EQ(after->arm, before.arm);
  EXPECT_EQ(after->before.resident, before.before.resident);
  EXPECT_EQ(after->before.pages_evicted, Bytes{0});
  EXPECT_EQ(after->before.load_set, before.before.load_set);
  EXPECT_EQ(after->before.mapped, true);
  EXPECT_FALSE(after->before.locked);
  EXPECT_EQ(after->timing.cached_tokens, 0);
  EXPECT_EQ(after->timing.wait_ms(), 350.75);
  EXPECT_EQ(after->timing.stages_ms, before.timing.stages_ms);
  EXPECT_EQ(after->effects.major_faults, -1);
  EXPECT_EQ(after->report, before.report);
  EXPECT_THAT(after->flags, ElementsAre("busy: 0.6 cores", "state: pages 0.4"));
}

TEST(TrialRow, UnsetStaysUnset) {
  const Result<Trial> after = decode_trial(encode(Trial{}));
  ASSERT_TRUE(after);
  EXPECT_FALSE(after->before.pages);
  EXPECT_FALSE(after->timing.wait_ms());
  EXPECT_TRUE(after->counts());
}

TEST(TrialRow, TakesWhatAServerSendsAsText) {
  Trial trial;
  trial.failure = "answered \xff\xfe\x01 with </script>";
  trial.verdict_text = std::string{"a\0b", 3};
  trial.extra["never"] = std::nan("");
  const Result<Trial> after = decode_trial(encode(trial));
  ASSERT_TRUE(after) << after.error().message();
  EXPECT_TRUE(is_utf8(after->failure));
  EXPECT_EQ(after->verdict_text, trial.verdict_text);
  EXPECT_TRUE(after->extra.empty());
}

TEST(TrialRow, WhatIsUnknownIsSkipped) {
  EXPECT_TRUE(decode_trial(R"({"arm":"a","of a later version":{"x":[1]}})"));
}

class Corrupt : public testing::TestWithParam<const char*> {};
TEST_P(Corrupt, IsRefused) {
  const Result<Trial> read = decode_trial(GetParam());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::kCorrupt);
}
INSTANTIATE_TEST_SUITE_P(TrialRow, Corrupt,
                         testing::Values("", "[]", R"({"arm":)", R"({"arm":1})", R"({"before":3})",
                                         R"({"before":{"pages":"all"}})",
                                         R"({"timing":{"cached_tokens":1.5}})",
                                         R"({"effects":{"swapped":-1}})", R"({"flags":[1]})",
                                         R"({"timing":{"stages_ms":{"read":null}}})"));

}  // namespace
}  // namespace hearth::lab
