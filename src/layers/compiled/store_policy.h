// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"

namespace hearth {

// A stored repack, as far as keeping it is weighed. Everything here is pure.
struct StoredWorth {
  Bytes size;
  Duration repack{};  // what a start without it computes; zero: not measured yet
  int starts = 0;     // of its model, since the server started
  Duration unused{};  // since the last of them
  int models = 1;     // in the catalogue with this content; 0: nobody can use it any more
};

// The seconds that one GiB of it saves: repack time x expected starts / size, where what a model's
// starts say fades with a half-life of two weeks.
double seconds_per_gib(const StoredWorth& stored);

// Less is not worth the disk, nor the writing.
inline constexpr double kLeastSecondsPerGib = 0.05;

// kAsked: somebody asked for it by name. Then only the budget counts.
enum class StoreWish { kIfItPays, kAsked };

struct StorePlan {
  bool store = false;
  std::vector<std::size_t> evict;  // of what is kept, in this order, first
  std::string why_not;             // one sentence; empty with `store`
};

// Whether to store `wanted` beside what is kept, within `room` for all of it. What is worth least
// goes first, and nothing goes for something that is worth less.
StorePlan plan_store(const StoredWorth& wanted, std::span<const StoredWorth> kept, Bytes room,
                     StoreWish wish);

// What must go so that the rest fits into `room`, in this order.
std::vector<std::size_t> beyond_room(std::span<const StoredWorth> kept, Bytes room);

}  // namespace hearth
