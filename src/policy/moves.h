// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "policy/holding.h"

namespace hearth {

// Memory that somebody wants.
struct MemoryDemand {
  Bytes needed{};
  Bytes free{};              // now, clean page cache included
  int device = kHostMemory;  // whose memory
  std::string subject{};     // for which model; its own holdings are left alone
};

// One level of one layer of one model, down: `holding` keeps `keeps` of its bytes.
struct PlannedMove {
  std::size_t holding = 0;  // index into the list that was planned over
  Bytes freed{};
  Bytes keeps{};
  double regret = 0;  // seconds of waiting to be expected per hour without it
};

// What to give up, least regretted first. free + freed >= needed, and no move can be left out.
struct MovePlan {
  std::vector<PlannedMove> moves;
  Bytes freed{};
};

// Why no plan frees enough, in numbers: needed > free + movable, and what is held by what beyond.
struct Shortfall {
  enum class Why { kBusy, kOwed, kPin, kWarmBound, kIndivisible };
  struct Obstacle {
    std::size_t holding = 0;
    Bytes bytes{};  // that it keeps
    Why why = Why::kBusy;
  };

  Bytes needed{};
  Bytes free{};
  Bytes movable{};
  std::vector<Obstacle> obstacles;  // largest first

  // Waiting for requests under way to end, and for nothing else, would make room.
  bool passes = false;
};
std::string_view name_of(Shortfall::Why why);

// Plans before anything is moved. Holdings of other memory, of the demand's own subject, and page
// cache are left alone; whatever is busy, owed or below its floor is never moved; a hollow worker
// only after all else that its model holds there. A pure function of its arguments: the same list
// gives the same plan.
tl::expected<MovePlan, Shortfall> plan_to_free(const MemoryDemand& demand,
                                               std::span<const Holding> holdings);

// "9.0 GiB are needed, 1.2 GiB are free and 3.0 GiB could be given up; chat8b keeps 4.9 GiB
// (weights: in use)".
std::string text_of(const Shortfall& shortfall, std::span<const Holding> holdings);

}  // namespace hearth
