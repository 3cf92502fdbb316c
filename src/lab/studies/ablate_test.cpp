// SPDX-License-Identifier: Apache-2.0
#include "lab/studies/ablate.h"

#include <gmock/gmock.h>

namespace hearth::lab {
namespace {

Trial row(const std::string& arm, double first_token_ms) {
  Trial trial;
  trial.study = "ablate";
  trial.side = "hearth";
  trial.arm = arm;
  trial.timing.first_token_ms = first_token_ms;
  return trial;
}

TEST(Ablations, VaryThePromptsLengthByWeights) {
  int lengths = 0;
  for (const Arm& arm : ablations(Preset::kFull).arms) {
    if (!arm.extra.contains("prompt_length")) continue;
    ++lengths;
    EXPECT_EQ(arm.extra.at("prompt_length"), arm.prompt_tokens);
    EXPECT_EQ(arm.state.prompts, StateSpec::Prompts::kForgotten);
  }
  EXPECT_EQ(lengths, 8);
}

TEST(Ablations, NeverWantPagesDroppedThatWeightsMap) {
  for (const Arm& arm : ablations(Preset::kFull).arms) {
    if (arm.state.pages && *arm.state.pages < 1) {
      EXPECT_EQ(arm.state.weights, StateSpec::Weights::kUnloaded) << arm.state.name;
    }
  }
}

TEST(Additivity, SumsSingleSavingsBesideTheWhole) {
  const std::vector<Additivity> found =
      additivity({row("all cold", 1000), row("all warm", 100), row("all but weights", 550),
                  row("all but pages", 700), row("only weights", 280), row("only pages", 640),
                  row("only host memory", 500)});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].savings.size(), 2U) << "two layers together are no layer";
  EXPECT_NEAR(found[0].lost_share.value(), (450 + 600) / 900.0, 1e-9);
  EXPECT_NEAR(found[0].kept_share.value(), (720 + 360) / 900.0, 1e-9);
  EXPECT_THAT(sentence_of(found[0]), testing::HasSubstr("120 %"));
  EXPECT_THAT(sentence_of(found[0]), testing::HasSubstr("not additive"));
}

TEST(Additivity, NeedsBothEndsOfTheScale) {
  EXPECT_TRUE(additivity({row("all warm", 100), row("only pages", 640)}).empty());
  EXPECT_TRUE(additivity({}).empty());
}

TEST(Additivity, SaysNothingOfSharesWhereColdIsNoSlower) {
  const std::vector<Additivity> found =
      additivity({row("all cold", 100), row("all warm", 100), row("only pages", 100)});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_FALSE(found[0].kept_share);
}

}  // namespace
}  // namespace hearth::lab
