// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lab/run_directory.h"
#include "lab/studies/arm.h"
#include "lab/studies/habits.h"
#include "lab/trial_runner.h"

namespace hearth::lab {

// A server under test. The target outlives whoever is given this.
struct Side {
  Target* target = nullptr;
  std::string kind;  // "hearth", "ollama", ...; see habits_of()
};

// Makes the trials of a study, in randomised blocks. What has a row that counts, or that says how
// the server failed, is not made again, so that a run which was ended goes on where it was. An arm
// that a side cannot be brought into is left out, and so is the rest of one that failed three times
// in a row; the run's info says why. Not thread-safe.
class StudyDriver {
 public:
  struct World {
    TrialRunner& runner;
    RunDirectory& rows;
    std::function<bool()> stop;
    // Before the first trial and after each, for a terminal.
    std::function<void(int done, int all)> on_progress;
    // Lets time pass in which nobody asks.
    std::function<void(std::chrono::milliseconds)> rest;
  };
  StudyDriver(World world, std::vector<Side> sides);

  void run(const Study& study, int repetitions, std::uint64_t seed, Meanwhile meanwhile);

  // One trial of an arm that `plan` names; see TrialRunner::run.
  void make(const Plan& plan, const StateSpec& state, const Question& question,
            const TrialRunner::Preparation& before_each_try = {});

  // Whether such a trial has been made, or is left out.
  bool settled(const Plan& plan) const;

  const std::vector<Side>& sides() const { return sides_; }

 private:
  void inject(const Plan& plan, const Arm& arm, Meanwhile meanwhile);
  void look_at(const Plan& plan, const Trial& trial);
  void leave_out(const std::string& side_and_arm, const std::string& why);

  World world_;
  std::vector<Side> sides_;
  std::set<std::string> done_;           // side, arm and block
  std::map<std::string, int> failures_;  // "side: arm" -> in a row
};

// Loads the model and asks the question twice, so that all is as it is in use.
void bring_into_use(Target& target, const Question& question);

// Reads and writes more memory than processors cache, as whatever runs meanwhile does.
void displace_processor_caches();

}  // namespace hearth::lab
