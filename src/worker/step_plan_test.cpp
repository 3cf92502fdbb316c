// SPDX-License-Identifier: Apache-2.0
#include "worker/step_plan.h"

#include <gtest/gtest.h>

#include <string>

#include "worker/chunk_size.h"

namespace hearth::worker {
namespace {

constexpr Demand kWrites{true, 0};
constexpr Demand reads(int tokens) { return {false, tokens}; }

struct StepCase {
  const char* name;
  std::vector<Demand> demands;
  int chunk;
  std::vector<int> shares;
};
class Step : public testing::TestWithParam<StepCase> {};

TEST_P(Step, Planned) {
  EXPECT_EQ(plan_step(GetParam().demands, GetParam().chunk, 2048), GetParam().shares);
}

INSTANTIATE_TEST_SUITE_P(
    StepPlan, Step,
    testing::Values(
        StepCase{"AloneGoesWhole", {reads(1000)}, 64, {1000}},
        StepCase{"AloneUpToABatch", {reads(5000)}, 64, {2048}},
        StepCase{"FirstPromptFirst", {reads(10), reads(10)}, 64, {10, 0}},
        StepCase{"WritersOnly", {kWrites, kWrites}, 64, {1, 1}},
        StepCase{"ChunkBesideAWriter", {kWrites, reads(1000)}, 128, {1, 128}},
        StepCase{"EndOfAPrompt", {kWrites, reads(100)}, 128, {1, 100}},
        StepCase{"RestGoesToTheNext", {kWrites, reads(100), reads(900)}, 192, {1, 100, 64}},
        StepCase{"RestTooSmall", {kWrites, reads(100), reads(900)}, 128, {1, 100, 0}},
        StepCase{"RestEndsAPrompt", {kWrites, reads(100), reads(20)}, 128, {1, 100, 20}},
        StepCase{"Nobody", {}, 64, {}}),
    [](const auto& test) { return std::string{test.param.name}; });

TEST(ChunkSize, FollowsTheMeasuredSpeed) {
  using namespace std::chrono_literals;
  ChunkSize chunk;
  EXPECT_EQ(chunk.tokens(), 64);   // nothing is known yet
  chunk.measured(512, 512ms);      // 1000 a second
  EXPECT_EQ(chunk.tokens(), 256);  // 250 ms and a quarter more, in whole multiples of 64
  chunk.measured(10, 10s);         // too small to say anything
  EXPECT_EQ(chunk.tokens(), 256);  // 250 ms and a quarter more, in whole multiples of 64
  for (int i = 0; i < 10; ++i) chunk.measured(64, 2s);
  EXPECT_EQ(chunk.tokens(), 64);  // never less
  for (int i = 0; i < 10; ++i) chunk.measured(2048, 1ms);
  EXPECT_EQ(chunk.tokens(), 2048);  // never more than a batch
}

}  // namespace
}  // namespace hearth::worker
