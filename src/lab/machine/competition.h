// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "base/files.h"
#include "base/result.h"
#include "lab/machine/machine.h"

namespace hearth::lab {

// How large competing work is.
struct CompetitionSize {
  Bytes backup;                      // the file that is scanned
  Bytes database;                    // the file that is looked up in
  Bytes served;                      // the file that is handed out
  Bytes memory;                      // taken
  double served_per_second = 110e6;  // about what a gigabit line carries

  // What makes a difference here without harming the machine: files take at most a quarter of the
  // free disk, memory leaves a third of what is available.
  static CompetitionSize usual(const Files& files, const std::string& directory);
};

// Makes in `directory` (made if missing) what the work needs, or takes it from an earlier time,
// and begins; when this returns, memory has been taken and files are written and not cached. The
// work ends with the object; the files stay.
// Errors: kNoSpace, kUnavailable, kCancelled (`stop`, looked at while all that is done; may be
// empty).
Result<std::unique_ptr<Competition>> start_competition(const Files& files, Competitor competitor,
                                                       const std::string& directory,
                                                       const CompetitionSize& size,
                                                       const std::function<bool()>& stop = {});

}  // namespace hearth::lab
