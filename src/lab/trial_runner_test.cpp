// SPDX-License-Identifier: Apache-2.0
#include "lab/trial_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/temporary_directory.h"
#include "base/testing/forwarding_files.h"
#include "lab/testing/fake_machine.h"
#include "lab/testing/fake_target.h"

namespace hearth::lab {
namespace {

using ::testing::ElementsAre;
using testing::FakeMachine;
using testing::FakeTarget;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// Rows do not fit for as long as `is_full`.
class SmallDisk : public hearth::testing::ForwardingFiles {
 public:
  bool is_full = false;

  Result<> write_at(const Fd& file, std::uint64_t offset,
                    std::span<const std::byte> bytes) const override {
    if (is_full) return fail(ErrorCode::kNoSpace, "no space left on device");
    return ForwardingFiles::write_at(file, offset, bytes);
  }
};

class Runner : public ::testing::Test {
 protected:
  Runner() {
    warm_.name = "warm";
    cold_.name = "page-cold";
    cold_.weights = StateSpec::Weights::kUnloaded;
    cold_.pages = 0.0;
  }

  TrialRunner runner(TrialRunner::Options options = {}) {
    return TrialRunner{{.machine = machine_,
                        .rows = rows_,
                        .clock = machine_.clock,
                        .stop = [this] { return stop_; },
                        .on_trial = [this](const Trial&) { ++told_; },
                        .sides = {&target_, &other_}},
                       options};
  }
  Trial run(TrialRunner& runner, const StateSpec& spec) {
    Plan plan;
    plan.study = "classes";
    plan.arm = spec.name;
    plan.block = 3;
    plan.extra["gap_s"] = 60;
    return runner.run(plan, spec, target_, question_);
  }

  TemporaryDirectory directory_;
  SmallDisk files_;
  RunDirectory rows_ = *RunDirectory::create(files_, directory_ / "run", RunInfo{});
  FakeMachine machine_;
  FakeTarget target_{machine_, "hearth"};
  FakeTarget other_{machine_, "other"};
  Question question_{.model = {}, .prompt = "What is warm?"};
  StateSpec warm_, cold_;
  bool stop_ = false;
  int told_ = 0;
};

TEST_F(Runner, MakesARowWithItsProof) {
  TrialRunner made = runner();
  const Trial trial = run(made, cold_);
  EXPECT_TRUE(trial.counts()) << trial.failure << (trial.flags.empty() ? "" : trial.flags[0]);
  EXPECT_EQ(trial.side, "hearth");
  EXPECT_EQ(trial.arm, "page-cold");
  EXPECT_EQ(trial.block, 3);
  EXPECT_EQ(trial.extra.at("gap_s"), 60);
  EXPECT_EQ(trial.before.pages, 0.0);
  EXPECT_EQ(trial.before.told.at("weights"), "hollow");
  EXPECT_EQ(trial.effects.bytes_read, Bytes{1'000'000'000});
  EXPECT_EQ(trial.timing.start_ms, std::nullopt);
  EXPECT_GT(trial.timing.first_token_ms, 1000);
  EXPECT_EQ(rows_.rows().size(), 1U);
  EXPECT_EQ(told_, 1);
}

TEST_F(Runner, FreesPagesThatAnotherSideMaps) {
  ASSERT_TRUE(other_.loaded);
  TrialRunner made = runner();
  EXPECT_TRUE(run(made, cold_).counts());
  EXPECT_FALSE(other_.loaded);
  EXPECT_TRUE(other_.running);
}

TEST_F(Runner, LeavesOtherSidesAloneWhereNoPagesAreDropped) {
  TrialRunner made = runner();
  EXPECT_TRUE(run(made, warm_).counts());
  EXPECT_TRUE(other_.loaded);
}

TEST_F(Runner, StopsASideThatCannotUnload) {
  other_.cannot = {Step::kUnload};
  TrialRunner made = runner();
  EXPECT_TRUE(run(made, cold_).counts());
  EXPECT_FALSE(other_.running);
}

TEST_F(Runner, CountsTheStartThatAStateNeeds) {
  target_.waits_for_start = true;
  target_.cannot = {Step::kUnload};
  TrialRunner made = runner();
  const Trial trial = run(made, cold_);
  EXPECT_TRUE(trial.counts()) << trial.failure << (trial.flags.empty() ? "" : trial.flags[0]);
  EXPECT_EQ(trial.before.processes, 0);
  EXPECT_GT(trial.timing.start_ms, 1000);
  EXPECT_GT(trial.timing.wait_ms(), trial.timing.start_ms);
}

// ---- bad servers ----

struct Bad {
  const char* name;
  Answer::Ending ending;
  const char* failure;
};
class ServerTrouble : public Runner, public ::testing::WithParamInterface<Bad> {};

TEST_P(ServerTrouble, IsARowAndTheNextTrialIsMade) {
  target_.mishaps.push_back([](Answer& answer) {
    answer.ending = GetParam().ending;
    answer.problem = "as it was";
  });
  TrialRunner made = runner();
  const Trial bad = run(made, warm_);
  EXPECT_EQ(bad.failure, GetParam().failure);
  EXPECT_EQ(rows_.rows().size(), 1U) << "not tried again";
  EXPECT_TRUE(run(made, warm_).counts());
}

INSTANTIATE_TEST_SUITE_P(
    All, ServerTrouble,
    ::testing::Values(Bad{"Hangs", Answer::Ending::kHung, "hung: as it was"},
                      Bad{"Refuses", Answer::Ending::kRefused, "refused: as it was"},
                      Bad{"CutsOff", Answer::Ending::kBroken, "broken: as it was"},
                      Bad{"SendsGarbage", Answer::Ending::kGarbage, "garbage: as it was"}),
    [](const auto& test) { return test.param.name; });

TEST_F(Runner, RestartsAServerThatHung) {
  target_.mishaps.push_back([](Answer& answer) { answer.ending = Answer::Ending::kHung; });
  TrialRunner made = runner();
  run(made, warm_);
  EXPECT_EQ(target_.taken.back(), Step::kStop);
}

TEST_F(Runner, SaysThatTheModelChangedInMidRun) {
  TrialRunner made = runner();
  EXPECT_TRUE(run(made, warm_).counts());
  target_.mishaps.push_back([](Answer& answer) {
    answer.model = "another";
    answer.text = "something else";
  });
  run(made, warm_);
  ASSERT_EQ(rows_.rows().size(), 3U);  // the flagged one, and another try
  EXPECT_THAT(rows_.rows()[1].flags, ElementsAre("text: the model was \"lab\" and is \"another\"",
                                                 HasSubstr("another answer")));
  EXPECT_TRUE(rows_.rows()[2].counts());
}

TEST_F(Runner, LeavesOutWhatTheServerCannot) {
  target_.cannot = {Step::kForgetPrompts};
  TrialRunner made = runner();
  const Trial trial = run(made, warm_);
  EXPECT_THAT(trial.failure, StartsWith(std::string{kUnsupportedFailure}));
  EXPECT_EQ(rows_.rows().size(), 1U);
}

// ---- states that are not reached ----

TEST_F(Runner, FlagsAStateThatWasNotReached) {
  TrialRunner made = runner();
  StateSpec spec = cold_;
  machine_.observable = false;
  const Trial trial = run(made, spec);
  EXPECT_THAT(trial.flags, ElementsAre("state: which pages are resident could not be observed"));
  EXPECT_EQ(rows_.rows().size(), 3U) << "kept, each of three tries";
}

TEST_F(Runner, FlagsCachedTokensWherePromptsWereForgotten) {
  target_.mishaps.push_back([](Answer& answer) { answer.timing.cached_tokens = 127; });
  TrialRunner made = runner({.tries = 1});
  EXPECT_THAT(run(made, warm_).flags, ElementsAre(HasSubstr("127 of 128 tokens were cached")));
}

TEST_F(Runner, TriesAgainWhatTheKernelRefused) {
  machine_.refuses = Error{ErrorCode::kConflict, "mapped by 1 (backup)"};
  TrialRunner made = runner({.tries = 2});
  EXPECT_EQ(run(made, cold_).failure, "state: mapped by 1 (backup)");
  EXPECT_EQ(rows_.rows().size(), 2U);
}

// ---- what cannot have been, and what others did ----

TEST_F(Runner, RejectsImpossibleRates) {
  machine_.fastest = 1e8;
  TrialRunner made = runner({.tries = 1});
  EXPECT_THAT(run(made, cold_).flags, ElementsAre(StartsWith("impossible: ")));
}

TEST_F(Runner, FlagsABusyMachine) {
  machine_.quiet = false;
  machine_.outside_cores = 1.0;
  TrialRunner made = runner({.tries = 1});
  EXPECT_THAT(run(made, warm_).flags, ElementsAre("busy: the machine did not become quiet",
                                                  "busy: others used 1.00 processors"));
  TrialRunner gateless = runner({.quiet_patience = {}});
  EXPECT_TRUE(run(gateless, warm_).counts());
}

TEST_F(Runner, FlagsAControlThatIsOff) {
  TrialRunner made = runner({.tries = 1});
  for (int n = 0; n < 3; ++n) EXPECT_TRUE(run(made, warm_).counts());
  target_.tokens_per_second = 20;
  EXPECT_THAT(run(made, warm_).flags, ElementsAre("control: 20.0 tokens/s where 50.0 are usual"));
}

TEST_F(Runner, LetsCompetitorsWorkBeforeOrBeside) {
  StateSpec spec = warm_;
  spec.competitor = Competitor::kDatabase;
  spec.competes = StateSpec::When::kDuring;
  TrialRunner made = runner();
  EXPECT_EQ(run(made, spec).extra.at("competitor_bytes"), 1 << 20);
  EXPECT_EQ(machine_.slept.count(), 0);
  spec.competes = StateSpec::When::kBefore;
  EXPECT_TRUE(run(made, spec).counts());
  EXPECT_GT(machine_.slept.count(), 0);
  EXPECT_EQ(machine_.competing, 0);
  EXPECT_THAT(machine_.competitors, ElementsAre(Competitor::kDatabase, Competitor::kDatabase));
}

TEST_F(Runner, FlagsACompetitorThatDidNothing) {
  machine_.competitors_do = Bytes{};
  StateSpec spec = warm_;
  spec.competitor = Competitor::kDatabase;
  spec.competes = StateSpec::When::kBefore;
  TrialRunner made = runner({.tries = 1});
  EXPECT_THAT(run(made, spec).flags, ElementsAre("state: the competing work did nothing"));
}

// Behind a long prompt tokens come slower; that is no disturbance, nor is another model.
TEST_F(Runner, ComparesControlsOfOneModelAndLength) {
  TrialRunner made = runner({.tries = 1});
  for (int n = 0; n < 3; ++n) EXPECT_TRUE(run(made, warm_).counts());
  target_.tokens_per_second = 20;
  question_.prompt = std::string(9000, 'x');
  EXPECT_TRUE(run(made, warm_).counts());
  question_.prompt = "What is warm?";
  question_.model = "another";
  EXPECT_TRUE(run(made, warm_).counts());
  question_.model.clear();
  EXPECT_THAT(run(made, warm_).flags, ElementsAre(StartsWith("control: ")));
}

TEST_F(Runner, TakesAnotherModelForNoChangeOfTheModel) {
  TrialRunner made = runner({.tries = 1});
  EXPECT_TRUE(run(made, warm_).counts());
  question_.model = "another";
  target_.mishaps.push_back([](Answer& answer) {
    answer.model = "another";
    answer.text = "something else";
  });
  EXPECT_TRUE(run(made, warm_).counts());
}

// ---- tries ----

TEST_F(Runner, StartsAServerAnewThatFailedBeforeItsState) {
  target_.fails = {Step::kForgetPrompts};
  TrialRunner made = runner({.tries = 2});
  EXPECT_THAT(run(made, warm_).failure, StartsWith("state: "));
  EXPECT_EQ(rows_.rows().size(), 2U);
  EXPECT_THAT(target_.taken, ElementsAre(Step::kStart, Step::kStop, Step::kStart, Step::kStop));
}

TEST_F(Runner, StopsNoServerThatCannotBeBroughtThere) {
  target_.cannot = {Step::kForgetPrompts};
  TrialRunner made = runner();
  run(made, warm_);
  EXPECT_THAT(target_.taken, ElementsAre(Step::kStart));
}

TEST_F(Runner, PreparesEachTry) {
  StateSpec spec = warm_;
  spec.prompts = StateSpec::Prompts::kAsIs;
  machine_.quiet = false;
  TrialRunner made = runner();
  int prepared = 0;
  Plan plan;
  plan.arm = spec.name;
  made.run(plan, spec, target_, question_, [&prepared] { ++prepared; });
  EXPECT_EQ(prepared, 3);
  EXPECT_EQ(rows_.rows().size(), 3U);
}

TEST_F(Runner, TriesOnceWhatATrySpoils) {
  machine_.quiet = false;
  TrialRunner made = runner();
  StateSpec as_is = warm_;
  as_is.prompts = StateSpec::Prompts::kAsIs;
  run(made, as_is);
  StateSpec shape = warm_;
  shape.new_shape = true;
  run(made, shape);
  EXPECT_EQ(rows_.rows().size(), 2U);
}

// ---- what is told beside ----

TEST_F(Runner, TellsOfAServersStartWhereItIsNoPartOfTheWait) {
  StateSpec spec = cold_;
  spec.server = StateSpec::Server::kRestarted;
  TrialRunner made = runner();
  const Trial trial = run(made, spec);
  EXPECT_TRUE(trial.counts()) << trial.failure << (trial.flags.empty() ? "" : trial.flags[0]);
  EXPECT_EQ(trial.extra.at("server_start_ms"), 30);
  EXPECT_EQ(trial.timing.start_ms, std::nullopt);
}

TEST_F(Runner, TellsOfProgramsThatStayedInMemory) {
  StateSpec spec = cold_;
  spec.server = StateSpec::Server::kRestarted;
  spec.programs_dropped = true;
  machine_.maps["/bin/hearth"] = {1};
  TrialRunner made = runner({.tries = 1});
  const Trial trial = run(made, spec);
  EXPECT_EQ(trial.extra.at("programs_kept"), 1);
  EXPECT_THAT(trial.flags, ElementsAre(HasSubstr("1 of the programs stayed in memory")));
}

TEST_F(Runner, FlagsShortAndEmptyReplies) {
  TrialRunner made = runner({.tries = 1});
  target_.mishaps.push_back([](Answer& answer) {
    answer.goes_on_at_end = true;
    answer.timing.generated_tokens = 3;
  });
  EXPECT_THAT(run(made, warm_).flags, ElementsAre("text: only 3 of 16 tokens came"));
  question_.prompt = "What is cold?";
  target_.mishaps.push_back([](Answer& answer) { answer.text.clear(); });
  EXPECT_THAT(run(made, warm_).flags, ElementsAre("text: the reply was empty"));
}

// ---- the disk, and ^C ----

TEST_F(Runner, LosesNoRowToAFullDisk) {
  TrialRunner made = runner();
  files_.is_full = true;
  EXPECT_TRUE(run(made, warm_).counts());
  EXPECT_THAT(made.not_written(), HasSubstr("no space"));
  files_.is_full = false;
  EXPECT_TRUE(run(made, warm_).counts());
  EXPECT_THAT(made.not_written(), IsEmpty());
  const auto read = RunDirectory::open(files_, directory_ / "run");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->rows().size(), 2U);
}

TEST_F(Runner, MakesNothingAfterAnInterrupt) {
  TrialRunner made = runner();
  stop_ = true;
  EXPECT_EQ(run(made, warm_).failure, "stopped");
  EXPECT_TRUE(target_.asked.empty());
  EXPECT_TRUE(rows_.rows().empty());
}

TEST_F(Runner, KeepsNothingThatAnInterruptSpoiled) {
  target_.mishaps.push_back([this](Answer& answer) {
    stop_ = true;
    answer.ending = Answer::Ending::kBroken;
  });
  TrialRunner made = runner();
  EXPECT_FALSE(run(made, warm_).counts());
  EXPECT_TRUE(rows_.rows().empty());
}

}  // namespace
}  // namespace hearth::lab
