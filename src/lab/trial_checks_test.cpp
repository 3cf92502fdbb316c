// SPDX-License-Identifier: Apache-2.0
#include "lab/trial_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hearth::lab {
namespace {

using ::testing::HasSubstr;

Trial cold_trial(double seconds, std::uint64_t read) {
  Trial trial;
  trial.timing.total_ms = seconds * 1000;
  trial.effects.bytes_read = Bytes{read};
  trial.before.pages = 0.0;
  trial.before.load_set = Bytes{1'000'000'000};
  return trial;
}

StateSpec cold() {
  StateSpec spec;
  spec.weights = StateSpec::Weights::kUnloaded;
  spec.pages = 0.0;
  return spec;
}

TEST(Impossibility, IsMoreThanTheDeviceGives) {
  EXPECT_EQ(impossibility(cold(), cold_trial(1.0, 1'000'000'000), 1e9), std::nullopt);
  const auto found = impossibility(cold(), cold_trial(0.1, 1'000'000'000), 1e9);
  EXPECT_EQ(found, "impossible: 1000 MB were read at 10.00 GB/s, the device gives 1.00");
}

TEST(Impossibility, NeedsNoMeasuredDevice) {
  EXPECT_EQ(impossibility(cold(), cold_trial(0.1, 1'000'000'000), std::nullopt), std::nullopt);
  EXPECT_TRUE(impossibility(cold(), cold_trial(0.001, 1'000'000'000), std::nullopt));
}

TEST(Impossibility, IsAModelThatWasMissingAndNeverRead) {
  const auto found = impossibility(cold(), cold_trial(1.0, 1000), 1e9);
  EXPECT_THAT(found.value_or(""), HasSubstr("1000 MB were missing and 0.0 MB were read"));
}

TEST(Impossibility, IsNotFoundWhereNothingHadToBeRead) {
  StateSpec resident = cold();
  resident.weights = StateSpec::Weights::kResident;
  EXPECT_EQ(impossibility(resident, cold_trial(1.0, 0), 1e9), std::nullopt);
  Trial unknown = cold_trial(1.0, 0);
  unknown.effects.bytes_read.reset();
  EXPECT_EQ(impossibility(cold(), unknown, 1e9), std::nullopt);
}

// A long text behind it makes no read possible.
TEST(Impossibility, LooksAtTheTimeOfReadingAlone) {
  Trial trial = cold_trial(10, 1'000'000'000);
  trial.timing.first_token_ms = 100;
  EXPECT_TRUE(impossibility(cold(), trial, 1e9));
  trial.timing.first_token_ms = 1000;
  EXPECT_FALSE(impossibility(cold(), trial, 1e9));
  trial.timing.stages_ms["read"] = 100;
  EXPECT_TRUE(impossibility(cold(), trial, 1e9));
  StateSpec reboot = cold();
  reboot.programs_dropped = true;  // they are read before that stage
  EXPECT_FALSE(impossibility(reboot, trial, 1e9));
}

TEST(Limit, IsKeptOrTheRowDoesNotCount) {
  Trial trial = cold_trial(2, 200'000'000);
  EXPECT_EQ(too_fast_for_its_limit(cold(), trial), std::nullopt) << "there is none";
  trial.extra["read_limit_mb_s"] = 100;
  EXPECT_EQ(too_fast_for_its_limit(cold(), trial), std::nullopt);
  trial.timing.stages_ms["read"] = 1600;
  EXPECT_EQ(too_fast_for_its_limit(cold(), trial), std::nullopt);
  trial.timing.stages_ms["read"] = 400;
  EXPECT_EQ(too_fast_for_its_limit(cold(), trial),
            "state: 200 MB were read at 500 MB/s, so the limit of 100 was not kept");
  trial.effects.bytes_read.reset();
  EXPECT_THAT(too_fast_for_its_limit(cold(), trial).value_or(""), HasSubstr("not be observed"));
}

TEST(Disturbance, IsOthersWorkAndSwap) {
  Trial trial;
  trial.timing.total_ms = 1000;
  EXPECT_EQ(disturbance(trial, 0.4), std::nullopt);
  trial.effects.outside_cores = 0.5;
  EXPECT_EQ(disturbance(trial, 0.4), "busy: others used 0.50 processors");
  trial.timing.total_ms = 20;  // one tick of the kernel's clock
  EXPECT_EQ(disturbance(trial, 0.4), std::nullopt);
  trial.effects.swapped = Bytes{8192};
  EXPECT_EQ(disturbance(trial, 0.4), "busy: 8 KiB were swapped");
}

TEST(Control, IsComparedToTheUsual) {
  EXPECT_EQ(control_off(10, {50, 50}, 0.25), std::nullopt);
  EXPECT_EQ(control_off(45, {50, 50, 50}, 0.25), std::nullopt);
  EXPECT_EQ(control_off(10, {50, 50, 50}, 0.25), "control: 10.0 tokens/s where 50.0 are usual");
  EXPECT_TRUE(control_off(80, {50, 50, 50}, 0.25));
}

TEST(Pause, MayBeATenthLonger) {
  using std::chrono::minutes;
  EXPECT_EQ(overlong(660, minutes{10}), std::nullopt);
  EXPECT_EQ(overlong(700, minutes{10}), "pause: it was 700 s long and was to be 600 s");
  EXPECT_EQ(overlong(4, minutes{0}), std::nullopt);
  EXPECT_TRUE(overlong(6, minutes{0}));
}

}  // namespace
}  // namespace hearth::lab
