// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/fd.h"
#include "base/result.h"

namespace hearth {

enum class FileKind { kRegular, kDirectory, kLink, kOther };

// What identifies one version of a file without reading it.
struct FileInfo {
  FileKind kind = FileKind::kOther;
  Bytes size;
  dev_t device = 0;
  ino_t inode = 0;
  std::int64_t modified_ns = 0;

  friend bool operator==(const FileInfo&, const FileInfo&) = default;
};

// Room on a file system, for whoever runs this process.
struct Space {
  Bytes free;
  Bytes total;
};

// The file system behind a seam: the real one, or a test's that fails on demand. Thread-safe.
// Every call blocks for as long as the device takes: call from a Pool, not from an event loop.
class Files {
 public:
  virtual ~Files() = default;

  // Opens for reading, close-on-exec, never blocking on a FIFO. Errors: kNotFound, kUnavailable.
  virtual Result<Fd> open_read(const std::string& path) const = 0;

  // Follows symbolic links. Errors: kNotFound, kUnavailable.
  virtual Result<FileInfo> info(const std::string& path) const = 0;
  virtual Result<FileInfo> info(const Fd& file) const = 0;

  // Fills `into` from `offset`; the count is smaller only at the end of the file.
  virtual Result<std::size_t> read_at(const Fd& file, std::uint64_t offset,
                                      std::span<std::byte> into) const = 0;

  // Absolute, links resolved. Errors: kNotFound, kUnavailable.
  virtual Result<std::string> real_path(const std::string& path) const = 0;

  // Names in a directory, sorted, without "." and "..".
  virtual Result<std::vector<std::string>> list(const std::string& directory) const = 0;

  // Creates missing parents too, each with `mode`. An existing directory is fine.
  virtual Result<> make_directories(const std::string& path, mode_t mode) const = 0;

  // Like info(), but of a link itself.
  virtual Result<FileInfo> link_info(const std::string& path) const = 0;

  // Errors: kNotFound, kUnavailable.
  virtual Result<Space> space(const std::string& path) const = 0;

  // ---- writing: files of our own only ----
  // All of these may fail with kNoSpace (no room, or a quota) or kUnavailable (a read-only or
  // broken file system, a wrong owner). Messages name what was tried.

  enum class Create {
    kNever,      // kNotFound when it is missing
    kIfMissing,  // mode 0600
    kAlways,     // kConflict when it is there
  };
  // Opens for reading and writing, close-on-exec. A link in the path's last step is refused.
  virtual Result<Fd> open_write(const std::string& path, Create create) const = 0;

  // All of `bytes`, or an error.
  virtual Result<> write_at(const Fd& file, std::uint64_t offset,
                            std::span<const std::byte> bytes) const = 0;
  virtual Result<> resize(const Fd& file, Bytes size) const = 0;
  // Takes the room of a file on the device without changing what is in it, so that later writes do
  // not run out of it. Fine where the file system cannot do it.
  virtual Result<> allocate(const Fd& file, Bytes size) const = 0;
  // Returns when content and size are on the device.
  virtual Result<> sync(const Fd& file) const = 0;
  // Likewise for names: what was created, renamed or removed in this directory.
  virtual Result<> sync_directory(const std::string& path) const = 0;
  // Replaces what is at `to`. Errors: kNotFound.
  virtual Result<> rename(const std::string& from, const std::string& to) const = 0;
  // A file, or an empty directory. Errors: kNotFound; kConflict (a directory that is not empty).
  virtual Result<> remove(const std::string& path) const = 0;
  virtual Result<> set_modified(const Fd& file, std::int64_t modified_ns) const = 0;

  // ---- advice; nothing changes but speed and memory ----
  // Begins to read the range into the page cache.
  virtual void read_ahead(const Fd& file, std::uint64_t offset, Bytes size) const = 0;
  // Begins to write back what is dirty in the range.
  virtual void start_write_back(const Fd& file, std::uint64_t offset, Bytes size) const = 0;
  // Waits for that, then lets the page cache forget the range.
  virtual void drop_cached(const Fd& file, std::uint64_t offset, Bytes size) const = 0;

  static const Files& real();
};

// The whole of a small text file (as in /proc), empty when it cannot be read.
std::string read_small_file(const std::string& path);

}  // namespace hearth
