// SPDX-License-Identifier: Apache-2.0
#include "cli/lab_progress.h"

#include <fmt/format.h>

#include <cstdio>

#include "cli/display_width.h"
#include "cli/format.h"

namespace hearth::cli {

std::string trial_line(const lab::Trial& trial) {
  std::string line = trial.side + ", " + trial.arm + ": ";
  if (!trial.failure.empty()) return one_line(line + "not measured: " + trial.failure);
  if (const auto wait = trial.timing.wait_ms()) line += format_milliseconds(*wait);
  for (const std::string& flag : trial.flags) line += "; does not count: " + flag;
  return one_line(line);
}

void LabProgress::trial(const lab::Trial& trial) {
  last_ = trial_line(trial);
  if (!trial.counts()) {
    say("  " + last_);
  } else {
    count(done_, all_);
  }
}

void LabProgress::count(int done, int all) {
  if (all_ == 0) {
    begun_ = clock_.now();
    begun_at_ = done;
  }
  done_ = done;
  all_ = all;
  std::string line = fmt::format("{} of {}", done, all);
  if (done > begun_at_ && done < all) {
    const double passed_ms = milliseconds_of(clock_.now() - begun_);
    const double each = passed_ms / (done - begun_at_);
    line += ", " + format_span(each * (all - done) / 1000) + " left";
  }
  draw(last_.empty() ? line : line + "   " + last_);
}

void LabProgress::waiting(std::chrono::seconds left) {
  draw("nobody asks; " + format_span(static_cast<double>(left.count())) + " left");
}

void LabProgress::say(const std::string& line) {
  clear();
  fmt::print(stderr, "{}\n", line);
}

void LabProgress::draw(const std::string& line) {
  if (!style_.terminal) return;
  fmt::print(stderr, "\r\x1b[K{}", clip(line, style_.width > 1 ? style_.width - 1 : 1));
  std::fflush(stderr);
  drawn_ = true;
}

void LabProgress::clear() {
  if (!drawn_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace hearth::cli
