// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace hearth {

// A piece of a file.
struct Range {
  std::uint64_t offset = 0;
  Bytes size;

  std::uint64_t end() const { return offset + size.count(); }
  friend bool operator==(const Range&, const Range&) = default;
};

struct FileRanges {
  std::string path;
  std::vector<Range> ranges;  // ascending, not touching each other

  friend bool operator==(const FileRanges&, const FileRanges&) = default;
};

// What a load of a model maps or reads, in the order in which it touches it.
using LoadSet = std::vector<FileRanges>;

inline Bytes size_of(const LoadSet& load_set) {
  Bytes total;
  for (const FileRanges& file : load_set) {
    for (const Range& range : file.ranges) total += range.size;
  }
  return total;
}

}  // namespace hearth
