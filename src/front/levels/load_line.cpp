// SPDX-License-Identifier: Apache-2.0
#include "front/levels/load_line.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace hearth::front {
namespace {

// Memory comes free without anybody's word.
constexpr std::chrono::milliseconds kLookAgain{500};
// So many fit past one who waits, and no more.
constexpr int kMostOvertakes = 4;

}  // namespace

Task<Result<std::unique_ptr<LoadLeave>>> LoadLine::enter(LoadWish wish,
                                                         std::function<bool()> wanted) {
  if (wish.load_for == LoadFor::kNobody) {
    if (!line_.empty()) co_return fail(ErrorCode::kNoSpace, "others wait for memory");
    co_return world_.reserve(wish);
  }
  const Place place = stand_in_line(wish);
  auto leave = co_await wait_in_line(place, std::move(wanted));
  line_.erase(place);
  changed_.notify_all();
  co_return leave;
}

LoadLine::Place LoadLine::stand_in_line(const LoadWish& wish) {
  const int priority = world_.priority ? world_.priority(wish.artifact) : 0;
  const Place before = std::find_if(
      line_.begin(), line_.end(), [&](const Waiter& waiter) { return waiter.priority < priority; });
  return line_.insert(before, Waiter{wish, ++tickets_, priority, 0});
}

Task<Result<std::unique_ptr<LoadLeave>>> LoadLine::wait_in_line(Place place,
                                                                std::function<bool()> wanted) {
  while (wanted()) {
    if (place != line_.begin()) {
      auto leave = try_to_overtake(*place);
      if (leave) co_return leave;
    } else {
      auto leave = world_.reserve(place->wish);
      if (leave) co_return leave;
      RoomPlan plan = world_.plan(place->wish);
      if (plan.never) co_return fail(ErrorCode::kNoSpace, std::move(plan.why));
      if (!plan.moves.empty()) {
        Move move = plan.moves.front();
        move.wanted = wanted;
        LoadWish wish = place->wish;
        const Result<> moved = co_await world_.apply(std::move(move), std::move(wish));
        if (moved) continue;
      }
    }
    if (place->wish.on_wait) place->wish.on_wait(place_of(place));
    (void)co_await changed_.wait_until(world_.loop.now() + kLookAgain);
  }
  co_return fail(ErrorCode::kCancelled, "cancelled while waiting for memory");
}

Result<std::unique_ptr<LoadLeave>> LoadLine::try_to_overtake(const Waiter& waiter) {
  Waiter& first = line_.front();
  if (first.overtaken >= kMostOvertakes || first.priority > waiter.priority) {
    return fail(ErrorCode::kNoSpace, "others wait for memory");
  }
  auto leave = world_.reserve(waiter.wish);
  if (leave) ++first.overtaken;
  return leave;
}

PlaceInLine LoadLine::place_of(Place place) {
  PlaceInLine found;
  if (world_.load_time) found.earliest = Duration{};
  for (auto waiter = line_.begin();; ++waiter) {
    if (found.earliest) {
      const std::optional<Duration> takes = world_.load_time(waiter->wish.artifact);
      found.earliest = takes ? std::optional{*found.earliest + *takes} : std::nullopt;
    }
    if (waiter == place) return found;
    ++found.ahead;
  }
}

std::optional<int> LoadLine::ahead_of(const std::string& artifact) const {
  int ahead = 0;
  for (const Waiter& waiter : line_) {
    if (waiter.wish.artifact == artifact) return ahead;
    ++ahead;
  }
  return std::nullopt;
}

}  // namespace hearth::front
