// SPDX-License-Identifier: Apache-2.0
#include "lab/studies/mix_run.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace hearth::lab {
namespace {

// Of one trial; `block` tells it from others of its arm.
Plan plan_of(const Arm& arm, std::size_t side, int block) {
  Plan plan;
  plan.study = "mix";
  plan.arm = arm.state.name;
  plan.side = side;
  plan.block = plan.repetition = block;
  plan.extra = arm.extra;
  return plan;
}

class Replay {
 public:
  Replay(MixRun& run, const HouseholdMix& mix) : run_{run}, mix_{mix} {
    kinds_ = run.models.empty() ? 0 : run.models.front().sides.size();
    const int models = static_cast<int>(run.models.size());
    all_ = static_cast<int>(kinds_) * (run.repeats * models + static_cast<int>(mix.steps.size()));
  }

  void run() {
    run_.on_progress(0, all_);
    for (int round = 0; round < run_.repeats; ++round) {
      for (std::size_t turn = 0; turn < kinds_; ++turn) {
        repeats((turn + static_cast<std::size_t>(round)) % kinds_, round);
      }
    }
    const std::size_t stretches = (mix_.steps.size() + kStretch - 1) / kStretch;
    for (std::size_t stretch = 0; stretch < stretches; ++stretch) {
      for (std::size_t turn = 0; turn < kinds_; ++turn) {
        household((turn + stretch) % kinds_, stretch);
      }
    }
  }

 private:
  void repeats(std::size_t kind, int round) {
    const Arm arm = repeat_arm();
    for (std::size_t model = 0; model < run_.models.size() && !run_.stop(); ++model) {
      const int block = static_cast<int>(model) * run_.repeats + round;
      const Plan plan = plan_of(arm, run_.models[model].sides[kind], block);
      make(plan, arm.state, question_of(arm, 0), model);
    }
  }

  void household(std::size_t kind, std::size_t stretch) {
    if (kinds_ > 1) returned_.clear();
    const std::size_t begin = stretch * kStretch;
    for (std::size_t i = begin; i < std::min(begin + kStretch, mix_.steps.size()); ++i) {
      if (run_.stop()) return;
      const MixStep& step = mix_.steps[i];
      const std::size_t side = run_.models[step.model].sides[kind];
      const Arm arm = arm_of(step, habits_of(run_.driver.sides()[side].kind), mix_);
      const Plan plan = plan_of(arm, side, step.number);
      if (!run_.driver.settled(plan)) go_on(kind, i);
      make(plan, arm.state, question_of(step, run_.new_tokens), step.model);
    }
  }

  // Brings a server back to where its own step before `next` left it: once in each stretch, and
  // where a run goes on.
  void go_on(std::size_t kind, std::size_t next) {
    const std::size_t model = mix_.steps[next].model;
    if (!returned_.insert(model).second) return;
    for (std::size_t i = next; i-- > 0;) {
      if (mix_.steps[i].model != model) continue;
      Question question = question_of(mix_.steps[i], run_.new_tokens);
      question.model = run_.models[model].name;
      // What is wrong with the server shows in the next trial.
      (void)run_.driver.sides()[run_.models[model].sides[kind]].target->ask(question);
      return;
    }
  }

  void make(Plan plan, const StateSpec& state, Question question, std::size_t model) {
    const MixRun::Model& of = run_.models[model];
    question.model = of.name;
    plan.model = of.label.empty() ? "model " + std::to_string(model + 1) : of.label;
    if (!run_.driver.settled(plan)) run_.driver.make(plan, state, question);
    run_.on_progress(++done_, all_);
  }

  MixRun& run_;
  const HouseholdMix& mix_;
  std::size_t kinds_ = 0;
  std::set<std::size_t> returned_;  // models whose server was brought back
  int done_ = 0, all_ = 0;
};

}  // namespace

void replay_mix(MixRun& run, const HouseholdMix& mix) { Replay{run, mix}.run(); }

}  // namespace hearth::lab
