// SPDX-License-Identifier: Apache-2.0
#include "lab/studies/classes.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "lab/studies/ablate.h"
#include "lab/studies/habits.h"
#include "lab/studies/prompts.h"

namespace hearth::lab {
namespace {

const Arm& arm_named(const Study& study, const std::string& name) {
  const auto found =
      std::ranges::find_if(study.arms, [&name](const Arm& arm) { return arm.state.name == name; });
  if (found == study.arms.end()) throw std::runtime_error{"no arm " + name};
  return *found;
}

std::set<std::string> names(const Study& study) {
  std::set<std::string> found;
  for (const Arm& arm : study.arms) found.insert(arm.state.name);
  return found;
}

TEST(Classes, HaveNamesOfTheirOwnAndSayWhatTheyStandFor) {
  for (const Preset preset : {Preset::kQuick, Preset::kFull}) {
    for (const Study& study : {response_classes(preset), ablations(preset)}) {
      EXPECT_EQ(names(study).size(), study.arms.size());
      for (const Arm& arm : study.arms) EXPECT_FALSE(arm.state.about.empty()) << arm.state.name;
    }
  }
}

TEST(Classes, FullHoldsAllThatQuickDoes) {
  const std::set<std::string> quick = names(response_classes(Preset::kQuick));
  const std::set<std::string> full = names(response_classes(Preset::kFull));
  EXPECT_THAT(full, testing::IsSupersetOf(quick));
  EXPECT_GT(full.size(), quick.size());
}

TEST(Classes, CoverTheProtocol) {
  const Study study = response_classes(Preset::kQuick);
  EXPECT_TRUE(arm_named(study, "after reboot").state.programs_dropped);
  EXPECT_TRUE(arm_named(study, "after load").state.never_run);
  EXPECT_EQ(arm_named(study, "immediate repeat").state.prompts, StateSpec::Prompts::kLive);
  EXPECT_TRUE(arm_named(study, "long idle").pause);
  EXPECT_EQ(arm_named(study, "page-cold 100 %").state.pages, 0);
  EXPECT_EQ(arm_named(study, "page-cold 50 %").state.pages, 0.5);
  EXPECT_EQ(arm_named(study, "after backup scan").state.competes, StateSpec::When::kBefore);
  std::set<Competitor> after, during;
  for (const Arm& arm : response_classes(Preset::kFull).arms) {
    if (arm.state.competes == StateSpec::When::kBefore) after.insert(*arm.state.competitor);
    if (arm.state.competes == StateSpec::When::kDuring) during.insert(*arm.state.competitor);
  }
  EXPECT_EQ(after.size(), 4U);
  EXPECT_EQ(during.size(), 5U);
}

TEST(Classes, AreAskedTheSameQuestionButForNewShapes) {
  const Study study = response_classes(Preset::kFull);
  const std::string usual = question_of(arm_named(study, "prefix cold"), 0).prompt;
  for (const Arm& arm : study.arms) {
    if (arm.state.new_shape) {
      EXPECT_GT(question_of(arm, 1).prompt.size(), question_of(arm, 0).prompt.size());
      EXPECT_GT(question_of(arm, 0).prompt.size(), usual.size());
    } else {
      EXPECT_EQ(question_of(arm, 3).prompt, usual) << arm.state.name;
    }
  }
}

TEST(Arms, AreChosenByTheBeginningsOfTheirNames) {
  const Study all = response_classes(Preset::kQuick);
  EXPECT_EQ(only(all, {}).arms.size(), all.arms.size());
  EXPECT_EQ(names(only(all, {"page-cold", "long"})),
            (std::set<std::string>{"page-cold 100 %", "page-cold 50 %", "long idle"}));
  EXPECT_TRUE(only(all, {"nothing"}).arms.empty());
}

TEST(Prompts, AreTheSameForTheSameNumberAndDifferFromTheFirstWordOn) {
  EXPECT_EQ(prompt_of(32, 1), prompt_of(32, 1));
  const auto first_word = [](const std::string& text) { return text.substr(0, text.find(' ')); };
  int same = 0;
  for (int n = 0; n < 50; ++n) {
    same += first_word(prompt_of(32, n)) == first_word(prompt_of(32, n + 1)) ? 1 : 0;
  }
  EXPECT_LE(same, 1);
  EXPECT_EQ(std::ranges::count(prompt_of(32, 7), ' '), 31);
}

TEST(Prompts, AboutATopicShareTheirBeginning) {
  const std::string one = prompt_about(2, 100, 10, 1), two = prompt_about(2, 100, 10, 2);
  const std::string other = prompt_about(3, 100, 10, 1);
  EXPECT_NE(one, two);
  EXPECT_EQ(one.substr(0, prompt_of(100, -3).size()), prompt_of(100, -3));
  EXPECT_EQ(two.substr(0, prompt_of(100, -3).size()), prompt_of(100, -3));
  EXPECT_NE(other.substr(0, 20), one.substr(0, 20));
}

struct PauseCase {
  const char* name;
  const char* kind;
  int minutes;
  Meanwhile meanwhile;
  bool unloaded, backed_up;
};

class AfterPause : public testing::TestWithParam<PauseCase> {};

TEST_P(AfterPause, IsAsTheServersHabitsSay) {
  const PauseCase& test = GetParam();
  Arm arm;
  arm.state.prompts = StateSpec::Prompts::kLive;
  arm.pause = std::chrono::minutes{test.minutes};
  const StateSpec state = after_pause(arm, habits_of(test.kind), test.meanwhile);
  EXPECT_EQ(state.weights == StateSpec::Weights::kUnloaded, test.unloaded);
  EXPECT_EQ(state.weights == StateSpec::Weights::kAsIs, !test.unloaded);
  EXPECT_EQ(state.prompts, StateSpec::Prompts::kAsIs);
  EXPECT_EQ(state.competitor.has_value(), test.backed_up);
}

INSTANTIATE_TEST_SUITE_P(
    Habits, AfterPause,
    testing::Values(
        PauseCase{"HearthKeeps", "hearth", 480, Meanwhile::kNothing, false, false},
        PauseCase{"OllamaKeepsForAWhile", "ollama", 1, Meanwhile::kNothing, false, false},
        PauseCase{"OllamaEndsAtFive", "ollama", 5, Meanwhile::kNothing, true, false},
        PauseCase{"UnknownKeeps", "http://10.0.0.1", 60, Meanwhile::kNothing, false, false},
        PauseCase{"NoBackupYet", "llama-server", 29, Meanwhile::kBackup, false, false},
        PauseCase{"Backup", "llama-server", 30, Meanwhile::kBackup, false, true}),
    [](const auto& test) { return test.param.name; });

TEST(AfterPauseOfNone, LeavesTheStateAlone) {
  Arm arm;
  arm.state.prompts = StateSpec::Prompts::kOnDisk;
  const StateSpec state = after_pause(arm, habits_of("ollama"), Meanwhile::kBackup);
  EXPECT_EQ(state.prompts, StateSpec::Prompts::kOnDisk);
  EXPECT_EQ(state.weights, StateSpec::Weights::kResident);
  EXPECT_FALSE(state.competitor);
}

TEST(PauseText, IsShort) {
  using std::chrono::minutes;
  EXPECT_EQ(pause_text(minutes{0}), "0 min");
  EXPECT_EQ(pause_text(minutes{10}), "10 min");
  EXPECT_EQ(pause_text(minutes{90}), "90 min");
  EXPECT_EQ(pause_text(minutes{480}), "8 h");
}

}  // namespace
}  // namespace hearth::lab
