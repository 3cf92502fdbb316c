// SPDX-License-Identifier: Apache-2.0
#include "lab/studies/mix_run.h"

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
    for (std::size_t kind = 0; kind < kinds_ && !run_.stop(); ++kind) {
      repeats(kind);
      household(kind);
    }
  }

 private:
  void repeats(std::size_t kind) {
    const Arm arm = repeat_arm();
    int block = 0;
    for (const MixRun::Model& model : run_.models) {
      for (int n = 0; n < run_.repeats && !run_.stop(); ++n) {
        make(plan_of(arm, model.sides[kind], block++), arm.state, question_of(arm, 0), model);
      }
    }
  }

  void household(std::size_t kind) {
    for (const MixStep& step : mix_.steps) {
      if (run_.stop()) return;
      const MixRun::Model& model = run_.models[step.model];
      const std::size_t side = model.sides[kind];
      const Arm arm = arm_of(step, habits_of(run_.driver.sides()[side].kind), mix_.days);
      make(plan_of(arm, side, step.number), arm.state, question_of(step, run_.new_tokens), model);
    }
  }

  void make(const Plan& plan, const StateSpec& state, Question question,
            const MixRun::Model& model) {
    question.model = model.name;
    if (!run_.driver.settled(plan)) run_.driver.make(plan, state, question);
    run_.on_progress(++done_, all_);
  }

  MixRun& run_;
  const HouseholdMix& mix_;
  std::size_t kinds_ = 0;
  int done_ = 0, all_ = 0;
};

}  // namespace

void replay_mix(MixRun& run, const HouseholdMix& mix) { Replay{run, mix}.run(); }

}  // namespace hearth::lab
