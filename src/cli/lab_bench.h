// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/interrupt.h"
#include "cli/lab_options.h"
#include "cli/lab_progress.h"
#include "cli/lab_run.h"
#include "lab/machine/journal.h"
#include "lab/machine/machine.h"
#include "lab/run_directory.h"
#include "lab/studies/driver.h"
#include "lab/target/target.h"
#include "lab/trial_runner.h"

namespace hearth::cli {

// Servers with the same model, one of each kind.
struct LabSides {
  std::vector<std::unique_ptr<lab::Target>> targets;
  std::vector<lab::Side> sides;  // of the targets, in their order
};

// How servers differ from what a study's options describe.
struct SideChanges {
  std::string model;                // another file
  std::string folder;               // beneath servers/, so that two lots do not share one
  std::vector<std::string> within;  // see lab::TargetOptions
  std::map<std::string, std::string> configuration;  // likewise; only Hearth is started then
  std::string name;                                  // of that side
  enum class Addresses { kAsk, kLeaveOut };
  Addresses addresses = Addresses::kAsk;
  // Of Ollama: unload after five minutes, as it does by itself, rather than when the lab says so.
  enum class IdleTimer { kOff, kAsItComes };
  IdleTimer idle_timer = IdleTimer::kOff;
};

// What a study stands on while it runs: the machine, the journal, the run's directory, and ^C.
// Whatever was done to the machine is put back at its end. Belongs to one thread.
class LabBench {
 public:
  // Puts back what an earlier run left. Errors: as lab_run(), and of what it makes there.
  static Result<std::unique_ptr<LabBench>> open(const std::string& study, LabOptions options);
  ~LabBench();
  LabBench(const LabBench&) = delete;
  LabBench& operator=(const LabBench&) = delete;

  const LabOptions& options() const { return options_; }
  lab::Machine& machine() { return *machine_; }
  lab::RunDirectory& rows() { return rows_; }
  lab::Journal& journal() { return journal_; }
  LabProgress& progress() { return progress_; }
  // Of the models, absolute; names where only servers given by address are asked.
  const std::vector<std::string>& models() const { return models_; }

  // Starts servers. One that cannot be had is told and left out; none at all is an error.
  Result<LabSides> start(const SideChanges& changes);

  // Says in the run what it is about, before its first trial; again when sides were added.
  void describe(const std::vector<lab::Arm>& arms, const LabSides& sides);
  // Says in the run, and to who watches, that something is not measured.
  void leave_out(const std::string& what, const std::string& why);
  // Another file of the run. That it could not be written is said behind the report.
  void write(const std::string& name, const std::string& content);
  // Something that is wrong and does not end the study; said behind the report.
  void add_problem(const Error& error) { problems_.push_back(error); }

  struct Work {
    std::unique_ptr<lab::TrialRunner> runner;
    std::unique_ptr<lab::StudyDriver> driver;
  };
  // `sides` and this object outlive it.
  Work work_with(const LabSides& sides);
  // Without a second try of what does not count: for states that a request ends.
  Work work_once_with(const LabSides& sides);

  static bool interrupted() { return InterruptWatch::interrupted(); }

  // Makes the report of what there is, and prints it with `more` behind it, also where it cannot be
  // written. The servers have ended before. Returns the exit code.
  int report(const std::string& more);

 private:
  LabBench(lab::Journal journal, LabRun run);

  Result<> prepare();
  Result<std::string> unmapped(const std::string& file);
  Result<> note_pages();
  Work work_with(const LabSides& sides, lab::TrialRunner::Options options);
  Result<std::unique_ptr<lab::Target>> open_side(const std::string& server,
                                                 const SideChanges& changes);
  std::optional<std::chrono::milliseconds> patience_for(const std::string& model) const;
  void clear_scratch();
  void keep(const lab::RunInfo& info);
  void tell_not_written();
  Error rows_lost() const;

  LabOptions options_;
  InterruptWatch watch_{InterruptWatch::Signals::kAllEndings};
  std::unique_ptr<lab::Machine> machine_ = lab::real_machine(&LabBench::interrupted);
  lab::Journal journal_;
  lab::RunDirectory rows_;
  LabProgress progress_{style_of(2), Clock::real()};
  std::vector<std::string> models_;
  std::vector<Error> problems_;
  std::string told_;    // of what is not written
  bool began_ = false;  // servers were started, or tried to
};

}  // namespace hearth::cli
