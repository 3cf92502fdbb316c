// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "base/files.h"
#include "base/pool.h"
#include "base/result.h"
#include "front/file_notices.h"

namespace hearth::front {

// Whether the files that a worker has open still hold what they held when it opened them. A write
// is final: whatever was computed since from these files is worth nothing, and neither is the
// worker. Names that lead elsewhere by now are no harm to what runs, since the open files stay what
// they were; but whoever comes next is to look at the catalogue first.
//
// The kernel tells of a write when it has been made, a moment after its first bytes can be read,
// and of one through a shared mapping not at all. So sizes and times of the open files are asked
// for too: of a local file that is open they are in memory. Where the kernel does not tell of
// changes, that may take a while and is done in a pool; and there a touched file cannot be told
// from a written one, and counts as written.
//
// Belongs to the loop, except where it says otherwise.
class FileWatch {
 public:
  struct Watched {
    std::vector<std::string> paths;
    std::vector<Fd> files;  // open, in the same order
  };

  // Blocks. `files` outlives it. What is written from here on is noticed.
  FileWatch(const Files& files, Watched watched, const OpenNotices& notices);

  // From any thread, blocks: compares the open files with what a catalogue says of them; one whose
  // inode is 0 is not known there. Errors: kUnavailable, when they are others.
  Result<> expect(const std::vector<FileInfo>& known) const;

  // Whether a write is known of. Never blocks.
  bool written();

  // How often something was told of names or attributes. Grows.
  std::uint64_t renames();
  // Whoever looked at the names and found them right says what renames() was before that.
  void trust(std::uint64_t renames) { trusted_ = renames; }
  // Nothing has happened, or it was looked at. false wherever the kernel does not tell.
  bool trusted();

  // Before a reply ends that was made from the files: looks at them too where that is needed, in
  // `pool`. Errors: kUnavailable, when there was a write.
  static Task<Result<>> check(std::shared_ptr<FileWatch> watch, EventLoop& loop, Pool& pool);

 private:
  void take_news();
  void compare(std::size_t file, const FileNotices::News& news);
  bool differs() const;

  const Files& files_;
  const Watched watched_;
  std::unique_ptr<FileNotices> notices_;
  std::vector<FileInfo> noted_;
  bool written_ = false;
  std::uint64_t renames_ = 0;
  std::uint64_t trusted_ = 0;
};

// Files that were opened for a worker, watched from before they were first read.
struct WatchedFiles {
  std::vector<Fd> files;
  std::shared_ptr<FileWatch> watch;
};
// Blocks. `known`: as for FileWatch::expect(). Errors: kNotFound; kUnavailable, also for files that
// are not the known ones.
Result<WatchedFiles> open_watched(const Files& files, const std::vector<std::string>& paths,
                                  const std::vector<FileInfo>& known, const OpenNotices& notices);

// What requests are told whose model's files were written to.
Error files_written_error();

}  // namespace hearth::front
