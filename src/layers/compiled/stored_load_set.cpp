// SPDX-License-Identifier: Apache-2.0
#include "layers/compiled/stored_load_set.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace hearth {
namespace {

using Ranges = std::vector<Range>;

// What `entries` replace in file `shard`, ascending.
Ranges replaced_in(const std::vector<repack::Entry>& entries, std::size_t shard) {
  Ranges ranges;
  for (const repack::Entry& entry : entries) {
    const bool here = entry.shard >= 0 && static_cast<std::size_t>(entry.shard) == shard;
    if (here && entry.source_size > Bytes{}) {
      ranges.push_back({entry.source_offset, entry.source_size});
    }
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.offset < b.offset; });
  return ranges;
}

// Both ascending.
Ranges without(const Ranges& ranges, const Ranges& gone) {
  Ranges left;
  std::size_t next = 0;
  for (const Range& range : ranges) {
    std::uint64_t begin = range.offset;
    while (next < gone.size() && gone[next].end() <= begin) ++next;
    for (std::size_t i = next; i < gone.size() && gone[i].offset < range.end(); ++i) {
      if (gone[i].offset > begin) left.push_back({begin, Bytes{gone[i].offset - begin}});
      begin = std::max(begin, gone[i].end());
    }
    if (begin < range.end()) left.push_back({begin, Bytes{range.end() - begin}});
  }
  return left;
}

}  // namespace

LoadSet load_set_with(LoadSet model, const repack::Table& stored, std::string path) {
  for (std::size_t shard = 0; shard < model.size(); ++shard) {
    model[shard].ranges = without(model[shard].ranges, replaced_in(stored.entries, shard));
  }
  model.push_back({std::move(path), {{0, stored.file_size}}});
  return model;
}

}  // namespace hearth
