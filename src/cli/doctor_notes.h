// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "cli/terminal.h"
#include "lab/doctor/course.h"

namespace hearth::cli {

// When which remedy was applied by whoever runs this program: a small JSON file of theirs.
class DoctorNotes {
 public:
  DoctorNotes(const Files& files, std::string path) : files_{files}, path_{std::move(path)} {}

  // Of this server, oldest first. Nothing where there is no file. Errors: kCorrupt.
  Result<std::vector<lab::Applied>> of(const std::string& server) const;

  // The newest of a finding takes the place of an older one. Errors: kCorrupt, kNoSpace,
  // kUnavailable.
  Result<> add(lab::Applied applied) const;

  // $XDG_STATE_HOME/hearth/doctor.json, else in ~/.local/state/hearth, else in /var/lib/hearth.
  static std::string usual_path(const Environment& environment);

 private:
  Result<std::vector<lab::Applied>> all() const;

  const Files& files_;
  std::string path_;
};

}  // namespace hearth::cli
