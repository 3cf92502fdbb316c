// SPDX-License-Identifier: Apache-2.0
#include "lab/studies/driver.h"

#include <cstddef>
#include <memory>
#include <utility>

namespace hearth::lab {
namespace {

constexpr int kMostFailures = 3;
constexpr std::size_t kMoreThanCaches = 96U << 20U;
constexpr std::size_t kCacheLine = 64;
// Processors that had nothing to do are slower at first, by a millisecond or two of a short reply:
// of rests of 1, 5, 10 and 20 s on a virtual machine, the first showed nothing of it and the second
// nearly all.
constexpr std::chrono::seconds kRest{5};

std::string key_of(const std::string& side, const std::string& arm, int block) {
  return side + '\n' + arm + '\n' + std::to_string(block);
}

// A row that does not count, or whose state could not be made, may have been about to be tried
// again when the run was ended.
bool is_final(const Trial& row) {
  return row.failure.empty() ? row.flags.empty() : !row.failure.starts_with(kStateFailure);
}

}  // namespace

void bring_into_use(Target& target, const Question& question) {
  // Some servers load only with a request: that it cannot be asked for is no failure here.
  (void)target.take(Step::kStart);
  (void)target.take(Step::kLoad);
  (void)target.ask(question);
  (void)target.ask(question);
}

void displace_processor_caches() {
  const auto memory = std::make_unique<unsigned char[]>(kMoreThanCaches);
  volatile unsigned char* bytes = memory.get();
  for (std::size_t at = 0; at < kMoreThanCaches; at += kCacheLine) {
    bytes[at] = static_cast<unsigned char>(bytes[at] + 1);
  }
}

StudyDriver::StudyDriver(World world, std::vector<Side> sides)
    : world_{std::move(world)}, sides_{std::move(sides)} {
  for (const Trial& row : world_.rows.rows()) {
    if (is_final(row)) done_.insert(key_of(row.side, row.arm, row.block));
  }
}

bool StudyDriver::settled(const Plan& plan) const {
  const std::string& side = sides_[plan.side].target->name();
  return done_.contains(key_of(side, plan.arm, plan.block)) ||
         world_.rows.info().left_out.contains(side + ": " + plan.arm);
}

void StudyDriver::run(const Study& study, int repetitions, std::uint64_t seed,
                      Meanwhile meanwhile) {
  std::vector<Plan> plans =
      randomised(study.name, states_of(study), sides_.size(), repetitions, seed);
  const int all = static_cast<int>(plans.size());
  int done = 0;
  world_.on_progress(done, all);
  for (Plan& plan : plans) {
    if (world_.stop()) return;
    const Arm& arm = study.arms[plan.state];
    plan.extra.insert(arm.extra.begin(), arm.extra.end());
    if (!settled(plan)) inject(plan, arm, meanwhile);
    world_.on_progress(++done, all);
  }
}

void StudyDriver::inject(const Plan& plan, const Arm& arm, Meanwhile meanwhile) {
  const Side& side = sides_[plan.side];
  const Question question = question_of(arm, plan.block);
  TrialRunner::Preparation in_use;
  if (arm.pause) {
    in_use = [&] {
      bring_into_use(*side.target, question);
      if (arm.pause->count() == 0) return;
      displace_processor_caches();
      world_.rest(kRest);
    };
  }
  make(plan, after_pause(arm, habits_of(side.kind), meanwhile), question, in_use);
}

void StudyDriver::make(const Plan& plan, const StateSpec& state, const Question& question,
                       const TrialRunner::Preparation& before_each_try) {
  look_at(plan,
          world_.runner.run(plan, state, *sides_[plan.side].target, question, before_each_try));
}

void StudyDriver::look_at(const Plan& plan, const Trial& trial) {
  const std::string& side = sides_[plan.side].target->name();
  const std::string name = side + ": " + plan.arm;
  // What ^C has spoiled is no finding.
  if (!trial.counts() && world_.stop()) return;
  done_.insert(key_of(side, plan.arm, plan.block));
  if (trial.failure.empty()) {
    failures_[name] = 0;
    return;
  }
  if (trial.failure.starts_with(kUnsupportedFailure)) {
    return leave_out(name, trial.failure.substr(kUnsupportedFailure.size()));
  }
  if (++failures_[name] >= kMostFailures) {
    leave_out(name, "failed " + std::to_string(kMostFailures) +
                        " times in a row, the last time: " + trial.failure);
  }
}

void StudyDriver::leave_out(const std::string& side_and_arm, const std::string& why) {
  RunInfo info = world_.rows.info();
  info.left_out[side_and_arm] = why;
  // On a full disk the info is kept in memory and written with a later row.
  (void)world_.rows.update(info);
}

}  // namespace hearth::lab
