// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/event_loop.h"
#include "base/files.h"
#include "base/pool.h"
#include "layers/artifact/artifact.h"
#include "layers/artifact/verify/file_hash.h"
#include "layers/artifact/verify/hash_notes.h"

namespace hearth::front {

// Who has a file read, as the reader sees them. Belongs to the loop.
class ReadControl {
 public:
  virtual ~ReadControl() = default;
  // Asked before each step: waits while others come first. False: stop, and go on another time.
  virtual Task<bool> may_go_on() = 0;
  // `done`: of this file.
  virtual void progressed(Bytes done) = 0;
};

// Hashes files in a pool, a step at a time. One that is stopped goes on where it was, also after a
// restart. Belongs to the loop.
class ContentReader {
 public:
  struct World {
    EventLoop& loop;
    Pool& pool;
    const HashNotes& notes;
    const Files& files;
  };
  explicit ContentReader(World world) : world_{world} {}

  struct Read {
    FileHash::Hashed hashed;
    bool resumed = false;  // some of it was read before, perhaps by another process
  };
  enum class Begin { kWhereItWas, kAnew };
  // `control` must outlive the read. Errors: kCancelled (control's wish); kConflict, when the file
  // is another by now; kNotFound, kUnavailable.
  Task<Result<Read>> read(Artifact::Shard file, Begin begin, ReadControl& control);

 private:
  Task<Result<FileHash>> open(Artifact::Shard file, Begin begin);
  Task<Result<>> steps(Artifact::Shard file, FileHash& hash, ReadControl& control);

  World world_;
};

}  // namespace hearth::front
