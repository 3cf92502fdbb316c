// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lab/state/load_files.h"
#include "lab/state/state_spec.h"
#include "lab/testing/fake_machine.h"
#include "lab/testing/fake_target.h"

namespace hearth::lab {
namespace {

using ::testing::ElementsAre;
using testing::FakeMachine;
using testing::FakeTarget;
using ::testing::HasSubstr;
using Server = StateSpec::Server;
using Weights = StateSpec::Weights;
using Prompts = StateSpec::Prompts;

struct Lab {
  FakeMachine machine;
  FakeTarget target{machine, "fake"};
  Question question{.model = {}, .prompt = "What is warm?"};

  Result<> make(const StateSpec& spec) { return make_state(spec, target, machine, question); }
  StateProof proof() {
    StateProof found = machine.observe(target.processes(), load_files(target));
    found.told = target.levels();
    return found;
  }
};

StateSpec spec_of(Server server, Weights weights, Prompts prompts) {
  StateSpec spec;
  spec.server = server;
  spec.weights = weights;
  spec.prompts = prompts;
  return spec;
}

// ---- every state that can be made is what its own proof says ----

struct Made {
  const char* name;
  StateSpec spec;
};

std::vector<Made> states() {
  StateSpec cold = spec_of(Server::kAsIs, Weights::kUnloaded, Prompts::kForgotten);
  cold.pages = 0.0;
  StateSpec half = cold;
  half.pages = 0.5;
  StateSpec reboot = spec_of(Server::kRestarted, Weights::kUnloaded, Prompts::kForgotten);
  reboot.pages = 0.0;
  reboot.programs_dropped = true;
  StateSpec removed = cold;
  removed.pages.reset();
  removed.model_removed = true;
  StateSpec fresh = spec_of(Server::kAsIs, Weights::kResident, Prompts::kForgotten);
  fresh.never_run = true;
  StateSpec shape = fresh;
  shape.new_shape = true;
  StateSpec disk = spec_of(Server::kRestarted, Weights::kResident, Prompts::kOnDisk);
  disk.prompt_pages = 0.0;
  return {{"Cold", cold},
          {"Half", half},
          {"Reboot", reboot},
          {"Removed", removed},
          {"Fresh", fresh},
          {"Shape", shape},
          {"OnDisk", disk},
          {"Warm", spec_of(Server::kAsIs, Weights::kResident, Prompts::kForgotten)},
          {"InMemory", spec_of(Server::kAsIs, Weights::kUnloaded, Prompts::kInMemory)},
          {"Live", spec_of(Server::kAsIs, Weights::kResident, Prompts::kLive)},
          {"Killed", spec_of(Server::kWorkerEnded, Weights::kResident, Prompts::kForgotten)}};
}

// The fake's files never go.
std::vector<Made> states_of_files() {
  std::vector<Made> found = states();
  std::erase_if(found, [](const Made& made) { return made.spec.model_removed; });
  return found;
}

std::vector<Made> states_without_weights() {
  std::vector<Made> found = states_of_files();
  std::erase_if(found, [](const Made& made) { return made.spec.weights != Weights::kUnloaded; });
  return found;
}

class States : public ::testing::TestWithParam<Made> {};
class StatesOfFiles : public States {};
class StatesWithoutWeights : public States {};

TEST_P(States, AreMadeAndProved) {
  Lab lab;
  ASSERT_TRUE(lab.make(GetParam().spec)) << lab.make(GetParam().spec).error().message();
  EXPECT_EQ(contradiction(GetParam().spec, lab.proof()), std::nullopt);
  if (needs_rehearsal(GetParam().spec)) {
    EXPECT_EQ(lab.target.asked.size(), 1U);
  }
}

// Of a server that says nothing, the kernel alone is the witness.
TEST_P(StatesOfFiles, AreProvedWithoutTheServersWord) {
  Lab lab;
  lab.target.tells_levels = false;
  ASSERT_TRUE(lab.make(GetParam().spec));
  EXPECT_EQ(contradiction(GetParam().spec, lab.proof()), std::nullopt);
}

TEST_P(StatesWithoutWeights, OfAServerThatIsItsModelEndStopped) {
  Lab lab;
  lab.target.waits_for_start = true;
  lab.target.cannot = {Step::kUnload, Step::kForgetPrompts};
  ASSERT_TRUE(lab.make(GetParam().spec)) << lab.make(GetParam().spec).error().message();
  EXPECT_FALSE(lab.target.running);
  StateSpec spec = GetParam().spec;
  spec.prompts = Prompts::kAsIs;
  EXPECT_EQ(contradiction(spec, lab.proof()), std::nullopt);
}

const auto kNameOfState = [](const auto& test) { return test.param.name; };
INSTANTIATE_TEST_SUITE_P(All, States, ::testing::ValuesIn(states()), kNameOfState);
INSTANTIATE_TEST_SUITE_P(All, StatesOfFiles, ::testing::ValuesIn(states_of_files()), kNameOfState);
INSTANTIATE_TEST_SUITE_P(All, StatesWithoutWeights, ::testing::ValuesIn(states_without_weights()),
                         kNameOfState);

// ---- order and refusals ----

TEST(MakeState, SetsPagesWhenNothingReadsAnyMore) {
  Lab lab;
  StateSpec spec = spec_of(Server::kRestarted, Weights::kUnloaded, Prompts::kForgotten);
  spec.pages = 0.25;
  spec.pattern = PagePattern::kHead;
  ASSERT_TRUE(lab.make(spec));
  ASSERT_EQ(lab.machine.pages_set.size(), 1U);
  EXPECT_EQ(lab.machine.pages_set[0].pattern, PagePattern::kHead);
  EXPECT_THAT(lab.target.taken, ElementsAre(Step::kStart, Step::kForgetPrompts, Step::kStop,
                                            Step::kStart, Step::kStart, Step::kUnload));
}

TEST(MakeState, RefusesPagesThatALoadedModelMaps) {
  Lab lab;
  StateSpec spec = spec_of(Server::kAsIs, Weights::kResident, Prompts::kForgotten);
  spec.pages = 0.0;
  const Result<> made = lab.make(spec);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), ErrorCode::kConflict);
}

TEST(MakeState, SaysWhatAServerCannot) {
  Lab lab;
  lab.target.cannot = {Step::kPromptsToDisk};
  const Result<> made = lab.make(spec_of(Server::kAsIs, Weights::kUnloaded, Prompts::kOnDisk));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), ErrorCode::kUnsupported);
}

TEST(MakeState, RefusesPromptsThatCannotOutliveTheirHolder) {
  Lab lab;
  for (const StateSpec& spec :
       {spec_of(Server::kRestarted, Weights::kResident, Prompts::kInMemory),
        spec_of(Server::kAsIs, Weights::kUnloaded, Prompts::kLive),
        spec_of(Server::kWorkerEnded, Weights::kResident, Prompts::kLive)}) {
    const Result<> made = lab.make(spec);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), ErrorCode::kUnsupported);
  }
  EXPECT_TRUE(lab.target.taken.empty());
}

TEST(MakeState, TellsOfARehearsalThatFailed) {
  Lab lab;
  lab.target.mishaps.push_back([](Answer& answer) {
    answer.ending = Answer::Ending::kHung;
    answer.problem = "nothing for 120 s";
  });
  const Result<> made = lab.make(spec_of(Server::kAsIs, Weights::kResident, Prompts::kLive));
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message(), HasSubstr("nothing for 120 s"));
}

// Programs that run cannot be dropped, the lab's own least of all.
TEST(MakeState, DropsProgramsAsFarAsTheyGo) {
  Lab lab;
  StateSpec spec = spec_of(Server::kRestarted, Weights::kUnloaded, Prompts::kForgotten);
  spec.programs_dropped = true;
  lab.machine.files["/bin/fake"].share = 1.0;
  lab.machine.maps["/bin/fake"] = {1};
  EXPECT_TRUE(lab.make(spec));
}

// ---- contradictions ----

TEST(Contradiction, NamesWhatIsNotSo) {
  StateSpec spec = spec_of(Server::kRestarted, Weights::kResident, Prompts::kForgotten);
  spec.pages = 1.0;
  StateProof proof;
  proof.pages = 1.0;
  proof.processes = 1;
  proof.holder_age_s = 3;
  proof.told = {{"weights", "resident"}, {"prefix", "none"}};
  ASSERT_EQ(contradiction(spec, proof), std::nullopt);

  StateProof other = proof;
  other.pages = 0.98;
  EXPECT_EQ(contradiction(spec, other), "98.0 % of the pages were resident, not 100.0 %");
  other = proof;
  other.holder_age_s = 4000;
  EXPECT_THAT(*contradiction(spec, other), HasSubstr("4000 s old"));
  other = proof;
  other.told["weights"] = "hollow";
  EXPECT_THAT(*contradiction(spec, other), HasSubstr("hollow"));
  other = proof;
  other.told["prefix"] = "on disk";
  EXPECT_THAT(*contradiction(spec, other), HasSubstr("on disk"));
}

// The server alone is left, as old as it is.
TEST(Contradiction, IsNotTheAgeOfAServerWhoseWorkerHasGone) {
  StateSpec spec = spec_of(Server::kWorkerEnded, Weights::kUnloaded, Prompts::kAsIs);
  StateProof proof;
  proof.processes = 1;
  proof.holder_age_s = 4000;
  proof.told = {{"weights", "none"}};
  EXPECT_EQ(contradiction(spec, proof), std::nullopt);
  spec.weights = Weights::kResident;
  proof.told = {{"weights", "resident"}};
  EXPECT_TRUE(contradiction(spec, proof));
}

TEST(Contradiction, IsWhatCouldNotBeObserved) {
  StateSpec spec = spec_of(Server::kAsIs, Weights::kAsIs, Prompts::kAsIs);
  EXPECT_EQ(contradiction(spec, StateProof{}), std::nullopt);
  spec.pages = 0.0;
  EXPECT_THAT(*contradiction(spec, StateProof{}), HasSubstr("could not be observed"));
  spec.pages.reset();
  spec.weights = Weights::kUnloaded;
  EXPECT_THAT(*contradiction(spec, StateProof{}), HasSubstr("could not be observed"));
}

struct Cached {
  const char* name;
  Prompts prompts;
  std::optional<int> cached;
  bool contradicts;
};
class CachedTokens : public ::testing::TestWithParam<Cached> {};

TEST_P(CachedTokens, ProveWhereThePromptWas) {
  Answer answer;
  answer.timing.prompt_tokens = 128;
  answer.timing.cached_tokens = GetParam().cached;
  const StateSpec spec = spec_of(Server::kAsIs, Weights::kResident, GetParam().prompts);
  EXPECT_EQ(contradiction(spec, answer).has_value(), GetParam().contradicts);
}

INSTANTIATE_TEST_SUITE_P(All, CachedTokens,
                         ::testing::Values(Cached{"Forgotten", Prompts::kForgotten, 0, false},
                                           Cached{"SharedHead", Prompts::kForgotten, 8, false},
                                           Cached{"NotForgotten", Prompts::kForgotten, 127, true},
                                           Cached{"Untold", Prompts::kForgotten, std::nullopt,
                                                  false},
                                           Cached{"Kept", Prompts::kInMemory, 127, false},
                                           Cached{"NotKept", Prompts::kOnDisk, 0, true},
                                           Cached{"AnyIsFine", Prompts::kAsIs, 127, false}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth::lab
