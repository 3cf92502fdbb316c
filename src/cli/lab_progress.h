// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "base/clock.h"
#include "cli/terminal.h"
#include "lab/trial.h"

namespace hearth::cli {

// A trial in one line: "hearth, page-cold 50 %: 412 ms", or why it does not count.
std::string trial_line(const lab::Trial& trial);

// What a study tells while it runs, on standard error: on a terminal one line that is written over;
// trials that do not count stay, also in a pipe.
class LabProgress {
 public:
  LabProgress(OutputStyle style, const Clock& clock) : style_{style}, clock_{clock} {}
  ~LabProgress() { clear(); }
  LabProgress(const LabProgress&) = delete;
  LabProgress& operator=(const LabProgress&) = delete;

  void trial(const lab::Trial& trial);
  void count(int done, int all);
  void waiting(std::chrono::seconds left);
  void say(const std::string& line);  // stays
  void clear();

 private:
  void draw(const std::string& line);

  OutputStyle style_;
  const Clock& clock_;
  std::string last_;
  TimePoint begun_{};
  int begun_at_ = 0;
  int done_ = 0, all_ = 0;
  bool drawn_ = false;
};

}  // namespace hearth::cli
