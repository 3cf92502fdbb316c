// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/files.h"
#include "base/result.h"

namespace hearth::lab {

// What an experiment did to the machine and has to be put back, written down before it is done. A
// journal whose writer is gone is put back by the next `hearth lab` of any kind: nothing stays
// dropped, pinned or running after ^C, a crash or kill -9.
struct Undo {
  enum class Kind {
    kEndProcess,   // subject: pid and start time of the server that the lab started
    kReadBack,     // subject: a file whose pages were resident
    kRemoveTree,   // subject: a directory of make_tree()
    kRemoveGroup,  // subject: a control group of the lab's own
    kUnpin,        // subject: server address, model and layer
  };
  Kind kind = Kind::kReadBack;
  std::string subject;
  std::string detail;  // of kEndProcess the start time; of kReadBack the share; may be empty

  friend bool operator==(const Undo&, const Undo&) = default;
};

// How the names of directories begin that the lab removes; nobody else's do.
inline constexpr std::string_view kTreePrefix = ".lab-";

// One open journal. Belongs to one thread.
class Journal {
 public:
  // In `directory` (made if missing, 0700), under a name with our pid and start time, locked while
  // we live. Errors: kNoSpace, kUnavailable.
  static Result<Journal> open(const Files& files, const std::string& directory);

  // On the device before it returns.
  Result<> add(const Undo& undo);

  // Makes a directory ".lab-PID-xxxxxx" in `parent`, where there was nothing of that name, and
  // notes that it is to be removed with all that comes to be in it. Returns its path. Errors:
  // kNoSpace, kUnavailable.
  Result<std::string> make_tree(const std::string& parent);

  // Does all of it, newest first, and removes the file; what fails is told and the rest goes on.
  std::vector<std::string> put_back();

  // The same for journals whose writers are gone. Returns what was done, for people.
  static std::vector<std::string> put_back_stale(const Files& files, const std::string& directory);

  // $XDG_STATE_HOME/hearth/lab, else ~/.local/state/hearth/lab, else /var/lib/hearth/lab.
  static std::string usual_directory();

 private:
  Journal(const Files& files, std::string path, Fd file);

  const Files* files_;
  std::string path_;
  Fd file_;
  std::vector<Undo> entries_;
};

}  // namespace hearth::lab
