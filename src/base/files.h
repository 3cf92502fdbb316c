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

enum class FileKind { kRegular, kDirectory, kOther };

// What identifies one version of a file without reading it.
struct FileInfo {
  FileKind kind = FileKind::kOther;
  Bytes size;
  dev_t device = 0;
  ino_t inode = 0;
  std::int64_t modified_ns = 0;

  friend bool operator==(const FileInfo&, const FileInfo&) = default;
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

  static const Files& real();
};

// The whole of a small text file (as in /proc), empty when it cannot be read.
std::string read_small_file(const std::string& path);

}  // namespace hearth
