// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "lab/machine/machine.h"
#include "lab/run_directory.h"
#include "lab/state/state_spec.h"
#include "lab/target/target.h"
#include "lab/trial.h"

namespace hearth::lab {

// One trial that is to be made.
struct Plan {
  std::string study;
  std::string arm;
  std::size_t side = 0;   // which target
  std::size_t state = 0;  // which StateSpec
  int block = 0;
  int repetition = 0;
  std::map<std::string, double> extra{};  // of this study; see Trial::extra
};

// How the failure of a trial begins whose state this kind of server cannot be brought into.
inline constexpr std::string_view kUnsupportedFailure = "unsupported: ";

// Randomised blocks: each repetition is one block with every arm of every side once, in an order of
// its own that the seed decides; sides alternate within an arm, who goes first changing.
std::vector<Plan> randomised(const std::string& study, const std::vector<StateSpec>& states,
                             std::size_t sides, int repetitions, std::uint64_t seed);

// Makes trials: state, proof, gate, request, effects, and what to think of it. Whatever goes wrong
// becomes a row and the next one is made. Not thread-safe.
class TrialRunner {
 public:
  struct World {
    Machine& machine;
    RunDirectory& rows;  // each row is on the device before the next trial begins
    const Clock& clock;
    std::function<bool()> stop;                  // ^C: no further trial
    std::function<void(const Trial&)> on_trial;  // for a terminal
    // All sides. Those that are not asked are unloaded, else stopped, before a trial that drops
    // pages, for they may map the same file.
    std::vector<Target*> sides{};
  };
  struct Options {
    std::chrono::milliseconds quiet_patience{60'000};  // 0: no gate, rows are not flagged for it
    int tries = 3;  // of a trial that was flagged; the flagged rows are kept
    double disturbed_cores = 0.4;
    double rate_tolerance = 0.25;  // of the control, tokens/s, against the side's median so far
  };
  TrialRunner(World world, Options options);

  // Returns what is to be thought of it: the last try. Each try is a row, unless ^C spoiled it.
  Trial run(const Plan& plan, const StateSpec& spec, Target& target, const Question& question);

  // Why the latest row is not on the device, it is kept in memory then; empty: it is.
  const std::string& not_written() const { return not_written_; }

  // Where files of competing work lie; for the journal, which has to know before they are made.
  static std::string competition_directory(const RunDirectory& rows);

 private:
  struct Job {
    const Plan& plan;
    const StateSpec& spec;
    Target& target;
    const Question& question;
  };
  Trial attempt(const Job& job);
  Result<> prepare(const Job& job);
  Result<> compete_before(const Job& job, Trial& trial);
  void measure(const Job& job, Trial& trial);
  bool start(Target& target, Trial& trial);
  std::optional<double> fastest_read(const Job& job);
  void compare_text(const Job& job, const Answer& answer, Trial& trial);
  void judge(const Job& job, const Answer& answer, Trial& trial);
  void keep(const Trial& trial);
  bool is_stopped() const { return world_.stop && world_.stop(); }

  World world_;
  Options options_;
  int order_ = 0;
  std::map<std::string, std::vector<double>> rates_;  // side -> control so far
  std::map<std::string, std::string> texts_;          // side, arm and question -> first answer
  std::map<std::string, std::string> models_;         // side -> how it named its model first
  std::string not_written_;
};

}  // namespace hearth::lab
