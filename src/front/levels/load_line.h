// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "base/sync.h"
#include "front/levels/move.h"
#include "front/load_gate.h"

namespace hearth::front {

// What could make room for a load.
struct RoomPlan {
  std::vector<Move> moves;  // together enough; empty: it must wait for those who are served
  bool never = false;       // not even then
  std::string why;          // with the numbers, where nothing can be done now
};

// The line of models that wait to be loaded: higher priority first, then first come, first served.
// The first in line has room made for it, one move at a time with a look at what each brought; the
// others wait, but for a few that fit without any. Belongs to the loop; outlives all who wait.
class LoadLine : public LoadGate {
 public:
  struct World {
    EventLoop& loop;
    // Sets memory aside. Errors: kNoSpace.
    std::function<Result<std::unique_ptr<LoadLeave>>(const LoadWish&)> reserve;
    std::function<RoomPlan(const LoadWish&)> plan;
    std::function<Task<Result<>>(Move, LoadWish)> apply;
    std::function<int(const std::string& artifact)> priority;
    // How long a load takes; nullopt: nobody knows. May be empty.
    std::function<std::optional<Duration>(const std::string& artifact)> load_time = {};
  };
  explicit LoadLine(World world) : world_{std::move(world)}, changed_{world_.loop} {}

  Task<Result<std::unique_ptr<LoadLeave>>> enter(LoadWish wish,
                                                 std::function<bool()> wanted) override;
  // Something may have changed: memory, a wish, a model that was busy.
  void poke() override { changed_.notify_all(); }

  // How many are before this model; nullopt: it does not wait.
  std::optional<int> ahead_of(const std::string& artifact) const;
  int waiting() const { return static_cast<int>(line_.size()); }

 private:
  struct Waiter {
    LoadWish wish;
    std::uint64_t ticket = 0;
    int priority = 0;
    int overtaken = 0;
  };
  using Place = std::list<Waiter>::iterator;

  Task<Result<std::unique_ptr<LoadLeave>>> wait_in_line(Place place, std::function<bool()> wanted);
  Place stand_in_line(const LoadWish& wish);
  Result<std::unique_ptr<LoadLeave>> try_to_overtake(const Waiter& waiter);
  PlaceInLine place_of(Place place);

  World world_;
  Notify changed_;
  std::list<Waiter> line_;  // in the order in which they are served
  std::uint64_t tickets_ = 0;
};

}  // namespace hearth::front
