// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
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
  std::string model{};                    // see Trial::model
  // Since when nobody asked this side, and how long that was to be: what is asked too late does not
  // count. The row's `extra` says how long it was: "waited_s".
  struct Pause {
    std::int64_t begun_us = 0;
    std::chrono::minutes length{};
  };
  std::optional<Pause> pause{};
};

// How the failure of a trial begins whose state this kind of server cannot be brought into.
inline constexpr std::string_view kUnsupportedFailure = "unsupported: ";
// Of one that could not be brought into it this time.
inline constexpr std::string_view kStateFailure = "state: ";

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

  // What has to be done before each try, where the state alone does not bring it about.
  using Preparation = std::function<void()>;

  // Returns what is to be thought of it: the last try. Each try is a row, unless ^C spoiled it.
  // There is one try alone where it leaves behind what another would find: a shape that is no more
  // new, prompts as they come without a preparation.
  Trial run(const Plan& plan, const StateSpec& spec, Target& target, const Question& question,
            const Preparation& before_each_try = {});

  // Why the latest row is not on the device, it is kept in memory then; empty: it is.
  const std::string& not_written() const { return not_written_; }

  // Where files of competing work lie.
  static std::string competition_directory(const RunDirectory& rows);

 private:
  struct Job {
    const Plan& plan;
    const StateSpec& spec;
    Target& target;
    const Question& question;
    const Preparation& before_each_try;
  };
  int tries_of(const Job& job) const;
  Trial attempt(const Job& job);
  Result<StateMade> prepare(const Job& job);
  Result<> compete_before(const Job& job, Trial& trial);
  void measure(const Job& job, StateMade made, Trial& trial);
  std::unique_ptr<Competition> compete_beside(const Job& job, Trial& trial);
  void note_pause(const Plan::Pause& pause, Trial& trial) const;
  bool start(Target& target, Trial& trial);
  std::optional<double> fastest_read(const Job& job);
  void compare_text(const Job& job, const Answer& answer, Trial& trial);
  void judge(const Job& job, const StateMade& made, const Answer& answer, Trial& trial);
  void compare_rate(const Job& job, double rate, Trial& trial);
  void keep(const Trial& trial);
  bool is_stopped() const { return world_.stop && world_.stop(); }

  World world_;
  Options options_;
  int order_ = 0;
  // By server and model, the first also by the prompt's length: the control so far, and how it
  // named its model first.
  std::map<std::string, std::vector<double>> rates_;
  std::map<std::string, std::string> models_;
  std::map<std::string, std::string> texts_;  // server, model, arm and question -> first answer
  std::string not_written_;
};

}  // namespace hearth::lab
