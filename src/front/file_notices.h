// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/fd.h"

namespace hearth::front {

// What the kernel tells of changes to a few open files, wherever their names lead by now. A seam,
// so that tests can say what is told.
class FileNotices {
 public:
  struct News {
    // Somebody wrote to one of them, or cut it.
    bool written = false;
    // Names or attributes are others: touched, linked, renamed, removed, or another file has taken
    // the name. What is in the open files is what it was.
    bool renamed = false;
  };

  virtual ~FileNotices() = default;

  // What has happened since the last call. Never blocks: a change is told from the moment that it
  // is made. From one thread at a time.
  virtual News take() = 0;

  // false: changes may be made that nobody tells us of, on another machine for instance.
  virtual bool tells_all() const = 0;
};

// May block. Never fails: where no notices can be had, it gives some that tell nothing.
using OpenNotices = std::function<std::unique_ptr<FileNotices>(const std::vector<Fd>& files)>;

// By inotify(7). It does not tell of what is written through a shared mapping, and where somebody
// sets the time of the last write alone (`touch -m`) it tells of a write.
std::unique_ptr<FileNotices> kernel_notices(const std::vector<Fd>& files);

}  // namespace hearth::front
