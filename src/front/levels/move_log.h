// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "base/bytes.h"
#include "base/clock.h"

namespace hearth::front {

// One layer of one model went one level down or up.
struct MoveRecord {
  std::int64_t at_us = 0;  // wall clock, when it had been done
  std::string model;       // a name, for people
  std::string layer;       // "prefix", "weights", "pages"
  std::string from, to;    // levels of that layer
  std::string cause;       // "pressure", "evicted_for", "idle", "asked", "prewarm", "protected"
  std::string for_whom;    // the model or service that it was done for; may be empty
  Bytes bytes;             // given back, or taken
  Duration time{};         // that it took
  std::string error;       // why it came to nothing; empty: it was done
};

// One JSON object.
std::string move_json(const MoveRecord& move);

// The last moves, for people. Belongs to the loop.
class MoveLog {
 public:
  static constexpr std::size_t kMost = 512;

  void add(MoveRecord move);

  // {"moves": [...], "total": n}, newest first.
  std::string json() const;
  // That were made, ever.
  std::uint64_t total() const { return total_; }
  const std::deque<MoveRecord>& moves() const { return moves_; }  // oldest first

 private:
  std::deque<MoveRecord> moves_;
  std::uint64_t total_ = 0;
};

}  // namespace hearth::front
