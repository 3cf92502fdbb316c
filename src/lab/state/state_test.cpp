// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
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

  StateMade made{};

  Result<> make(const StateSpec& spec) {
    const TimePoint began = machine.clock.now();
    Result<StateMade> result = make_state(spec, target, machine, question);
    if (!result) return Failed{std::move(result).error()};
    made = std::move(*result);
    made.seconds = milliseconds_of(machine.clock.now() - began) / 1000;
    return {};
  }
  StateProof proof() { return prove(target, machine, made); }
  std::optional<std::string> contradiction_to(const StateSpec& spec) {
    const StateProof found = proof();
    return contradiction(spec, found, made);
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
  EXPECT_EQ(lab.contradiction_to(GetParam().spec), std::nullopt);
  if (needs_rehearsal(GetParam().spec)) {
    EXPECT_EQ(lab.target.asked.size(), 1U);
  }
}

// Of a server that says nothing, the kernel alone is the witness.
TEST_P(StatesOfFiles, AreProvedWithoutTheServersWord) {
  Lab lab;
  lab.target.tells_levels = false;
  ASSERT_TRUE(lab.make(GetParam().spec));
  EXPECT_EQ(lab.contradiction_to(GetParam().spec), std::nullopt);
}

TEST_P(StatesWithoutWeights, OfAServerThatIsItsModelEndStopped) {
  Lab lab;
  lab.target.waits_for_start = true;
  lab.target.cannot = {Step::kUnload, Step::kForgetPrompts};
  ASSERT_TRUE(lab.make(GetParam().spec)) << lab.make(GetParam().spec).error().message();
  EXPECT_FALSE(lab.target.running);
  StateSpec spec = GetParam().spec;
  spec.prompts = Prompts::kAsIs;
  EXPECT_EQ(lab.contradiction_to(spec), std::nullopt);
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
  EXPECT_EQ(lab.made.programs_kept, 1);
  EXPECT_THAT(lab.contradiction_to(spec).value_or(""), HasSubstr("/bin/fake is mapped"));
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
  const StateMade made{.seconds = 5};
  ASSERT_EQ(contradiction(spec, proof, made), std::nullopt);

  StateProof other = proof;
  other.pages = 0.98;
  EXPECT_EQ(contradiction(spec, other, made), "98.0 % of the pages were resident, not 100.0 %");
  other = proof;
  other.holder_age_s = 200;  // before the step
  EXPECT_THAT(*contradiction(spec, other, made), HasSubstr("200 s old"));
  other = proof;
  other.told["weights"] = "hollow";
  EXPECT_THAT(*contradiction(spec, other, made), HasSubstr("hollow"));
  other = proof;
  other.told["prefix"] = "on disk";
  EXPECT_THAT(*contradiction(spec, other, made), HasSubstr("on disk"));
  EXPECT_THAT(*contradiction(spec, proof, {.ended = {7, 8}, .left = {8}, .seconds = 5}),
              HasSubstr("process 8 was to end"));
}

// The kernel sees it, so the server's word does not count.
TEST(Contradiction, IsAServersWordThatTheKernelDenies) {
  StateSpec spec = spec_of(Server::kAsIs, Weights::kUnloaded, Prompts::kAsIs);
  StateProof proof;
  proof.processes = 2;
  proof.mapped = true;
  proof.told = {{"weights", "hollow"}};
  EXPECT_THAT(contradiction(spec, proof).value_or(""), HasSubstr("mapped the model's file"));
  proof.mapped = false;
  EXPECT_EQ(contradiction(spec, proof), std::nullopt);
  spec.weights = Weights::kResident;
  proof.told = {{"weights", "resident"}};
  EXPECT_EQ(contradiction(spec, proof), std::nullopt) << "they may be in graphics memory";
  proof.processes = 0;
  EXPECT_THAT(contradiction(spec, proof).value_or(""), HasSubstr("no process"));
}

// A worker that goes on although it was to end is found by its number, however old it is.
TEST(MakeState, KnowsWhichProcessesHadToEnd) {
  Lab lab;
  const std::vector<pid_t> before = lab.target.processes();
  StateSpec spec = spec_of(Server::kWorkerEnded, Weights::kResident, Prompts::kForgotten);
  ASSERT_TRUE(lab.make(spec));
  EXPECT_EQ(lab.made.ended, before);
  EXPECT_EQ(lab.contradiction_to(spec), std::nullopt);
  lab.made.ended = lab.target.processes();
  EXPECT_THAT(lab.contradiction_to(spec).value_or(""), HasSubstr("was to end"));
}

// ---- of a server that only its API is known of ----

TEST(Contradiction, IsNotThereWhereCachedTokensProveALoadedModel) {
  const StateSpec spec = spec_of(Server::kAsIs, Weights::kResident, Prompts::kLive);
  const StateProof nothing;
  EXPECT_EQ(nothing.processes, std::nullopt);
  Answer answer;
  answer.timing.prompt_tokens = 128;
  EXPECT_THAT(contradiction(spec, nothing, {}, answer).value_or(""),
              HasSubstr("could not be observed"));
  answer.timing.cached_tokens = 127;
  EXPECT_EQ(contradiction(spec, nothing, {}, answer), std::nullopt);
  StateProof seen;  // where somebody looked, that counts
  seen.processes = 1;
  EXPECT_TRUE(contradiction(spec, seen, {}, answer));
}

TEST(Prove, KnowsNoProcessesOfAServerThatOthersStarted) {
  struct Elsewhere : FakeTarget {
    using FakeTarget::FakeTarget;
    std::vector<pid_t> processes() const override { return {}; }
    double last_start_ms() const override { return 0; }
  };
  FakeMachine machine;
  const Elsewhere elsewhere{machine, "elsewhere"};
  StateMade made;
  EXPECT_EQ(prove(elsewhere, machine, made).processes, std::nullopt);
  FakeTarget ours{machine, "ours"};
  ASSERT_TRUE(ours.take(Step::kStop));
  EXPECT_EQ(prove(ours, machine, made).processes, 0);
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
  EXPECT_TRUE(contradiction(spec, proof, {.seconds = 10}));
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
