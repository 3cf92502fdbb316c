// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"
#include "base/files.h"
#include "base/result.h"
#include "repack/repack_file.h"

namespace hearth::front {

// A stored repack as it lies in the directory.
struct CompiledFile {
  std::string path;
  FileInfo file;  // which version of it the table was read from
  repack::Table table;
};

// The directory of stored repacks: "<digest of the key>.repack" each, mode 0600, the directory
// 0700. What is being written has ".part" at its end until it is whole. Nothing else in there is
// ever touched. Thread-safe. Blocks.
class CompiledFiles {
 public:
  CompiledFiles(const Files& files, std::string directory)
      : files_{files}, directory_{std::move(directory)} {}

  // What is there. Removes what was left half written, and what is no stored repack, or one under
  // another's name.
  std::vector<CompiledFile> sweep() const;

  // An empty file to write a stored repack to. The directory is made where it is missing. Errors:
  // kNoSpace, also when less than kSpare would be left on the device; kUnavailable.
  struct Draft {
    std::string path;
    Fd file;
  };
  Result<Draft> begin(const repack::Key& key, Bytes size) const;

  // Checks that the draft at `path` holds a stored repack with this key, and gives it its name.
  // Errors: kCorrupt, kNoSpace, kUnavailable; the draft is then gone.
  Result<CompiledFile> publish(const std::string& path, const repack::Key& key) const;

  // The file with its table, opened again. Errors: kNotFound; kCorrupt, also for another key.
  struct Opened {
    Fd file;
    CompiledFile found;
  };
  Result<Opened> open(const CompiledFile& known) const;

  // Notes in the file that it was used now. The file as it is then.
  FileInfo touch(const CompiledFile& known, std::int64_t now_ns) const;

  // Fine when it is gone already.
  Result<> remove(const std::string& path) const;

  std::string path_of(const repack::Key& key) const;

  // Left free for others on the device.
  static constexpr Bytes kSpare{std::uint64_t{256} << 20};

 private:
  const Files& files_;
  const std::string directory_;
};

}  // namespace hearth::front
