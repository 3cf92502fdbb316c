// SPDX-License-Identifier: Apache-2.0
#include "layers/pages/read_plan.h"

#include <algorithm>

namespace hearth {
namespace {

class Runs {
 public:
  Runs(std::uint64_t grain, const CountResident& resident) : grain_{grain}, resident_{resident} {}

  void add_missing_of(Range range) {
    const Bytes there = resident_(range);
    if (there >= range.size) return;
    if (there == Bytes{} || range.size.count() <= grain_) return add(range);
    // Half as many grains, so that both parts begin on one.
    const std::uint64_t grains = (range.end() - 1) / grain_ - range.offset / grain_ + 1;
    const std::uint64_t middle = (range.offset / grain_ + grains / 2) * grain_;
    if (middle <= range.offset || middle >= range.end()) return add(range);
    add_missing_of(Range{range.offset, Bytes{middle - range.offset}});
    add_missing_of(Range{middle, Bytes{range.end() - middle}});
  }
  std::vector<Range> take() { return std::move(runs_); }

 private:
  void add(Range range) {
    if (!runs_.empty() && runs_.back().end() == range.offset) {
      runs_.back().size += range.size;
    } else {
      runs_.push_back(range);
    }
  }

  const std::uint64_t grain_;
  const CountResident& resident_;
  std::vector<Range> runs_;
};

}  // namespace

std::vector<Range> missing_runs(Range range, Bytes piece, Bytes grain,
                                const CountResident& resident) {
  Runs runs{grain.count(), resident};
  for (std::uint64_t at = range.offset; at < range.end();) {
    const std::uint64_t next = (at / piece.count() + 1) * piece.count();
    const std::uint64_t end = std::min(next, range.end());
    runs.add_missing_of(Range{at, Bytes{end - at}});
    at = end;
  }
  return runs.take();
}

std::vector<Range> blocks_of(const std::vector<Range>& runs, Bytes block) {
  std::vector<Range> blocks;
  for (const Range& run : runs) {
    for (std::uint64_t at = run.offset; at < run.end(); at += block.count()) {
      blocks.push_back(Range{at, Bytes{std::min(block.count(), run.end() - at)}});
    }
  }
  return blocks;
}

}  // namespace hearth
