// SPDX-License-Identifier: Apache-2.0
#include "lab/studies/driver.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <optional>

#include "base/files.h"
#include "base/temporary_directory.h"
#include "lab/studies/ablate.h"
#include "lab/studies/idle.h"
#include "lab/studies/idle_run.h"
#include "lab/studies/mix_run.h"
#include "lab/testing/fake_machine.h"
#include "lab/testing/fake_target.h"

namespace hearth::lab {
namespace {

using std::chrono::minutes;

// Two fake servers, and a run's directory on a real disk.
class Studies : public ::testing::Test {
 protected:
  Studies() {
    open_rows();
    sides_ = {{&hearth_, "hearth"}, {&ollama_, "ollama"}};
  }

  void open_rows() {
    if (rows_) {
      rows_.reset();
      rows_.emplace(RunDirectory::open(Files::real(), folder_ / "run").value());
    } else {
      rows_.emplace(RunDirectory::create(Files::real(), folder_ / "run", {}).value());
    }
    TrialRunner::Options options;
    options.quiet_patience = std::chrono::milliseconds{0};
    options.tries = 1;
    runner_.emplace(TrialRunner::World{machine_,
                                       *rows_,
                                       machine_.clock,
                                       [this] { return stopped_; },
                                       {},
                                       {&hearth_, &ollama_}},
                    options);
  }

  StudyDriver driver() {
    return StudyDriver{{*runner_, *rows_, [this] { return stopped_; },
                        [this](int done, int) {
                          done_ = done;
                          if (done == stop_after_) stopped_ = true;
                        },
                        [this](std::chrono::milliseconds time) { rested_ += time; }},
                       sides_};
  }

  int count(const std::string& side, const std::string& arm) const {
    return static_cast<int>(std::ranges::count_if(
        rows_->rows(), [&](const Trial& row) { return row.side == side && row.arm == arm; }));
  }

  TemporaryDirectory folder_;
  testing::FakeMachine machine_;
  testing::FakeTarget hearth_{machine_, "hearth"}, ollama_{machine_, "ollama"};
  std::optional<RunDirectory> rows_;
  std::optional<TrialRunner> runner_;
  std::vector<Side> sides_;
  std::chrono::milliseconds rested_{};
  bool stopped_ = false;
  int done_ = 0, stop_after_ = -1;
};

Study two_arms() { return only(ablations(Preset::kQuick), {"all warm", "all cold"}); }

TEST_F(Studies, MakeEachArmOfEachSideInEachBlock) {
  driver().run(two_arms(), 3, 1, Meanwhile::kNothing);
  EXPECT_EQ(done_, 12);
  for (const char* side : {"hearth", "ollama"}) {
    EXPECT_EQ(count(side, "all warm"), 3);
    EXPECT_EQ(count(side, "all cold"), 3);
  }
}

TEST_F(Studies, GoOnWhereTheyWereEnded) {
  stop_after_ = 5;
  driver().run(two_arms(), 3, 1, Meanwhile::kNothing);
  EXPECT_EQ(rows_->rows().size(), 5U);
  stopped_ = false;
  stop_after_ = -1;
  open_rows();
  driver().run(two_arms(), 3, 1, Meanwhile::kNothing);
  EXPECT_EQ(rows_->rows().size(), 12U);
  EXPECT_EQ(count("hearth", "all warm"), 3) << "none is made twice";
}

TEST_F(Studies, MakeAgainWhatDidNotCountWhenTheRunWasEnded) {
  const Study study = only(two_arms(), {"all warm"});
  driver().run(study, 1, 1, Meanwhile::kNothing);
  ASSERT_EQ(rows_->rows().size(), 2U);
  Trial flagged = rows_->rows().front();
  flagged.block = 1;
  flagged.flags = {"busy: the machine did not become quiet"};
  ASSERT_TRUE(rows_->add(flagged));
  open_rows();
  driver().run(study, 2, 1, Meanwhile::kNothing);
  EXPECT_EQ(rows_->rows().size(), 5U);
  EXPECT_EQ(count(flagged.side, "all warm"), 3);
}

TEST_F(Studies, TakeNoEndOfTheRunForAFailure) {
  stopped_ = true;
  StudyDriver made = driver();
  const Study study = only(two_arms(), {"all warm"});
  for (int block = 0; block < 4; ++block) {
    Plan plan;
    plan.arm = "all warm";
    plan.block = block;
    made.make(plan, study.arms[0].state, question_of(study.arms[0], block));
    EXPECT_FALSE(made.settled(plan));
  }
  EXPECT_TRUE(rows_->info().left_out.empty());
}

TEST_F(Studies, LeaveOutWhatAServerCannot) {
  ollama_.cannot = {Step::kEndWorker};
  driver().run(two_arms(), 3, 1, Meanwhile::kNothing);
  EXPECT_EQ(count("ollama", "all cold"), 1) << "asked for once";
  EXPECT_EQ(count("hearth", "all cold"), 3);
  ASSERT_TRUE(rows_->info().left_out.contains("ollama: all cold"));
  EXPECT_THAT(rows_->info().left_out.at("ollama: all cold"), ::testing::HasSubstr("ollama has no"));
}

TEST_F(Studies, LeaveOutTheRestOfWhatFailsAndFails) {
  ollama_.fails = {Step::kLoad};
  driver().run(only(two_arms(), {"all warm"}), 8, 1, Meanwhile::kNothing);
  EXPECT_EQ(count("ollama", "all warm"), 3);
  EXPECT_EQ(count("hearth", "all warm"), 8);
  EXPECT_TRUE(rows_->info().left_out.contains("ollama: all warm"));
}

TEST_F(Studies, InjectWhatAPauseDoesToAServer) {
  driver().run(idle_study({minutes{1}, minutes{10}}, Pausing::kInjected), 1, 1,
               Meanwhile::kNothing);
  for (const Trial& row : rows_->rows()) {
    const bool unloaded = row.side == "ollama" && row.arm == "10 min, injected";
    EXPECT_EQ(row.before.told.at("weights") == "hollow", unloaded) << row.side << ", " << row.arm;
    EXPECT_TRUE(row.extra.contains("gap_s"));
    EXPECT_TRUE(row.counts()) << row.failure << (row.flags.empty() ? "" : row.flags.front());
  }
}

TEST_F(Studies, InjectedPausesLetProcessorsRest) {
  StudyDriver made = driver();
  made.run(idle_study({minutes{0}, minutes{10}}, Pausing::kInjected), 2, 1, Meanwhile::kNothing);
  EXPECT_EQ(rested_ / std::chrono::seconds{5}, static_cast<long>(2 * sides_.size()))
      << "none without a pause";
}

class Pauses : public Studies {
 protected:
  enum class Servers { kOurs, kStay };
  RealPauses pauses(StudyDriver& driver, Servers servers = Servers::kOurs) {
    return RealPauses{{.driver = driver,
                       .rows = *rows_,
                       .machine = machine_,
                       .clock = machine_.clock,
                       .stop = [this] { return stopped_; },
                       .on_waiting =
                           [this](std::chrono::seconds left) {
                             left_ = left;
                             if (left.count() == stop_at_) stopped_ = true;
                           },
                       .servers_stay = servers == Servers::kStay}};
  }
  const Study study_ = idle_study({minutes{1}}, Pausing::kReal);
  std::chrono::seconds left_{};
  std::int64_t stop_at_ = -1;
};

TEST_F(Pauses, AreWaitedOutByAllSidesAtOnce) {
  StudyDriver made = driver();
  pauses(made).run(study_, 2, 1, Meanwhile::kNothing);
  EXPECT_EQ(count("hearth", "1 min, real"), 2);
  EXPECT_EQ(count("ollama", "1 min, real"), 2);
  for (const Trial& row : rows_->rows()) {
    EXPECT_GE(row.extra.at("waited_s"), 60);
    EXPECT_LT(row.extra.at("waited_s"), 63);
  }
  EXPECT_LT(machine_.slept, std::chrono::seconds{130});
}

TEST_F(Pauses, OfNothingAreAskedRightAfterTheirOwnUse) {
  ollama_.prefill_ms = 9000;  // what another side would wait meanwhile
  StudyDriver made = driver();
  pauses(made).run(idle_study({minutes{0}}, Pausing::kReal), 2, 1, Meanwhile::kNothing);
  ASSERT_EQ(rows_->rows().size(), 4U);
  for (const Trial& row : rows_->rows()) {
    EXPECT_EQ(row.extra.at("waited_s"), 0) << row.side;
    EXPECT_TRUE(row.counts());
  }
}

TEST_F(Pauses, ThatBecameTooLongDoNotCount) {
  stop_at_ = 20;
  StudyDriver first = driver();
  pauses(first, Servers::kStay).run(study_, 1, 1, Meanwhile::kNothing);
  stopped_ = false;
  stop_at_ = -1;
  machine_.clock.advance(std::chrono::hours{3});
  StudyDriver second = driver();
  pauses(second, Servers::kStay).run(study_, 1, 1, Meanwhile::kNothing);
  ASSERT_EQ(rows_->rows().size(), 2U);
  for (const Trial& row : rows_->rows()) {
    ASSERT_FALSE(row.flags.empty());
    EXPECT_THAT(row.flags.front(), ::testing::StartsWith("pause: it was 108"));
  }
}

TEST_F(Pauses, LeaveTheServerAlone) {
  StudyDriver made = driver();
  bring_into_use(hearth_, question_of(study_.arms[0], 0));
  const std::size_t steps = hearth_.taken.size();
  pauses(made).run(study_, 1, 1, Meanwhile::kNothing);
  // Only what brings it into use before the pause: a start and a load.
  EXPECT_EQ(hearth_.taken.size(), steps + 2);
}

TEST_F(Pauses, BeginAnewAfterARestartOfTheLab) {
  stop_at_ = 20;
  StudyDriver first = driver();
  pauses(first).run(study_, 1, 1, Meanwhile::kNothing);
  EXPECT_TRUE(rows_->rows().empty());
  stopped_ = false;
  stop_at_ = -1;
  const auto before = machine_.slept;
  StudyDriver second = driver();
  pauses(second).run(study_, 1, 1, Meanwhile::kNothing);
  EXPECT_EQ(rows_->rows().size(), 2U);
  EXPECT_GE(machine_.slept - before, std::chrono::seconds{59});
}

TEST_F(Pauses, GoOnAfterARestartWhereServersStay) {
  stop_at_ = 20;
  StudyDriver first = driver();
  pauses(first, Servers::kStay).run(study_, 1, 1, Meanwhile::kNothing);
  stopped_ = false;
  stop_at_ = -1;
  const auto before = machine_.slept;
  const std::size_t asked = hearth_.asked.size();
  StudyDriver second = driver();
  pauses(second, Servers::kStay).run(study_, 1, 1, Meanwhile::kNothing);
  EXPECT_EQ(rows_->rows().size(), 2U);
  EXPECT_LT(machine_.slept - before, std::chrono::seconds{23}) << "only what was left";
  EXPECT_EQ(hearth_.asked.size(), asked + 1) << "a question in between would end the pause";
}

TEST_F(Studies, ReplayAHouseholdOnEachSide) {
  household::Trace trace;
  trace.models = {{"one", Bytes{1}}};
  for (const int at : {0, 100, 200, 1000, 1100}) {
    trace.requests.push_back({std::chrono::seconds{at}, 0, std::chrono::seconds{1}});
  }
  StudyDriver made = driver();
  MixRun run{.driver = made,
             .models = {{.sides = {0, 1}, .name = {}}},
             .stop = [this] { return stopped_; },
             .on_progress = [this](int done, int) { done_ = done; },
             .repeats = 2,
             .new_tokens = 4};
  replay_mix(run, mixture_of(trace, 1, 10, Meanwhile::kNothing));
  EXPECT_EQ(count("hearth", "household"), 5);
  EXPECT_EQ(count("ollama", "household"), 5);
  EXPECT_EQ(count("hearth", "immediate repeat"), 2);
  EXPECT_EQ(done_, 14);
  int unloaded = 0;
  for (const Trial& row : rows_->rows()) {
    if (row.arm == "household") unloaded += row.extra.at("unloaded") != 0 ? 1 : 0;
  }
  EXPECT_EQ(unloaded, 2) << "Ollama: before the first one and after 800 s";
  EXPECT_EQ(mix_headlines(rows_->rows()).size(), 2U);
  EXPECT_EQ(rows_->rows().front().model, "model 1");
}

TEST_F(Studies, TakeTurnsStretchByStretch) {
  household::Trace trace;
  trace.models = {{"one", Bytes{1}}};
  for (int n = 0; n < 45; ++n) {
    trace.requests.push_back({std::chrono::seconds{10 * n}, 0, std::chrono::seconds{1}});
  }
  StudyDriver made = driver();
  MixRun run{.driver = made,
             .models = {{.sides = {0, 1}, .name = {}}},
             .stop = [this] { return stopped_; },
             .on_progress = [](int, int) {},
             .repeats = 0,
             .new_tokens = 4};
  const HouseholdMix mix = mixture_of(trace, 1, 45, Meanwhile::kNothing);
  replay_mix(run, mix);
  const std::vector<Trial>& rows = rows_->rows();
  ASSERT_EQ(rows.size(), 90U);
  std::vector<std::string> turns;
  for (const Trial& row : rows) {
    if (turns.empty() || turns.back() != row.side) turns.push_back(row.side);
  }
  EXPECT_THAT(turns, ::testing::ElementsAre("hearth", "ollama", "hearth", "ollama"));
  // 45 of its own, and the last one before the other's turn twice more.
  ASSERT_EQ(hearth_.asked.size(), 47U);
  EXPECT_EQ(hearth_.asked[20].prompt, hearth_.asked[19].prompt);
  EXPECT_NE(hearth_.asked[21].prompt, hearth_.asked[20].prompt);
}

TEST_F(Studies, KeepModelsOfOneSideApart) {
  household::Trace trace;
  trace.models = {{"one", Bytes{1}}, {"two", Bytes{1}}};
  for (int n = 0; n < 12; ++n) {
    const auto model = static_cast<std::size_t>(n % 2);
    trace.requests.push_back({std::chrono::seconds{10 * n}, model, std::chrono::seconds{1}});
  }
  testing::FakeTarget other{machine_, "hearth"};
  other.tokens_per_second = 5;  // ten times as large
  sides_ = {{&hearth_, "hearth"}, {&other, "hearth"}};
  StudyDriver made = driver();
  MixRun run{.driver = made,
             .models = {{.sides = {0}, .name = {}}, {.sides = {1}, .name = {}, .label = "large"}},
             .stop = [this] { return stopped_; },
             .on_progress = [](int, int) {},
             .repeats = 4,
             .new_tokens = 4};
  replay_mix(run, mixture_of(trace, 2, 12, Meanwhile::kNothing));
  ASSERT_EQ(rows_->rows().size(), 20U);
  for (const Trial& row : rows_->rows()) {
    EXPECT_TRUE(row.counts()) << (row.flags.empty() ? row.failure : row.flags.front());
  }
  const MixHeadline headline = mix_headlines(rows_->rows()).at(0);
  EXPECT_EQ(headline.repeats_ms.size(), 2U);
  EXPECT_TRUE(headline.repeats_ms.contains("large"));
}

}  // namespace
}  // namespace hearth::lab
