// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "layers/artifact/load_set.h"

namespace hearth {

// Pieces of the range that are not in the page cache, in whole pages, ascending. Where the kernel
// does not say what is there, nothing counts as absent. `range` begins at a page.
std::vector<Range> absent_from_cache(const Fd& file, Range range);

// Reads files without a trace in the page cache: what was there stays, what was not goes again.
// Belongs to one thread.
class PoliteReader {
 public:
  // `files` must outlive the reader.
  explicit PoliteReader(const Files& files);

  // Errors: kNotFound, kUnavailable.
  Result<> open(const std::string& path);
  const Fd& file() const { return file_; }

  // All of the range, in pieces; it begins at a page. Errors: kConflict (the file ends before it),
  // kUnavailable.
  using Take = std::function<void(std::span<const std::byte>)>;
  Result<> read(Range range, const Take& take);

 private:
  Result<> read_piece(Range piece, const Take& take);

  const Files* files_;  // not owned
  Fd file_;
  std::vector<std::byte> buffer_;
};

}  // namespace hearth
