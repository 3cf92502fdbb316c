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
  EXPECT_THAT(sentence_of(found[0]), testing::HasSubstr("180 ms more: they are not additive"));
  EXPECT_THAT(sentence_of(found[0]), testing::HasSubstr("only host memory keeps two layers"));
}

TEST(Additivity, IsCalledSoWhereSumsComeToTheWhole) {
  const std::vector<Additivity> found = additivity(
      {row("all cold", 1000), row("all warm", 100), row("only prompts", 600),
       row("only process", 510), row("all but prompts", 200), row("all but weights", 400)});
  const std::string text = sentence_of(found[0]);
  EXPECT_THAT(text, testing::HasSubstr("99 % of that: they are additive."));
  EXPECT_THAT(text, testing::HasSubstr("44 % of that, 500 ms less: they are not additive."));
}

TEST(Additivity, SaysNothingOfDifferencesWhereThereAreNone) {
  const std::vector<Additivity> found =
      additivity({row("all cold", 1000), row("all warm", 100), row("only prompts", 550),
                  row("only process", 550)});
  EXPECT_THAT(sentence_of(found[0]), testing::HasSubstr("100 % of that: they are additive."));
  EXPECT_THAT(sentence_of(found[0]), testing::Not(testing::HasSubstr("not additive")));
}

TEST(Additivity, NamesArmsThatAreMissingAndThoseOfMoreThanOneLayer) {
  std::vector<Trial> rows{row("all cold", 1000), row("all warm", 100), row("all but pages", 700),
                          row("only weights", 280)};
  rows.push_back(row("only pages", 500));
  rows.back().flags = {"busy: others"};
  const Additivity found = additivity(rows).at(0);
  EXPECT_THAT(found.missing, testing::Contains("only pages"));
  EXPECT_THAT(found.missing, testing::Not(testing::Contains("all but pages")));
  EXPECT_THAT(found.nested, testing::ElementsAre("all but pages has no weights either",
                                                 "only weights keeps process and pages too"));
  EXPECT_THAT(sentence_of(found),
              testing::HasSubstr("for want of rows that count: all but prompts"));
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
