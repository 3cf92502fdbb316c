// SPDX-License-Identifier: Apache-2.0
#include "layers/compiled/store_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/size_text.h"

namespace hearth {
namespace {

constexpr double kHalfLifeDays = 14;
// What repacking takes on the machines that it was measured on, until this one has told.
constexpr double kUsualSecondsPerGib = 1.0;

double gib(Bytes bytes) {
  return static_cast<double>(bytes.count()) / static_cast<double>(std::uint64_t{1} << 30);
}

// Indices of `kept`, least worth first.
std::vector<std::size_t> by_worth(std::span<const StoredWorth> kept) {
  std::vector<std::size_t> order(kept.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return seconds_per_gib(kept[a]) < seconds_per_gib(kept[b]);
  });
  return order;
}

Bytes size_of(std::span<const StoredWorth> kept) {
  Bytes total;
  for (const StoredWorth& each : kept) total += each.size;
  return total;
}

StorePlan refused(std::string why) { return {false, {}, std::move(why)}; }

}  // namespace

double seconds_per_gib(const StoredWorth& stored) {
  if (stored.models == 0 || stored.size == Bytes{}) return 0;
  const double seconds = std::chrono::duration<double>{stored.repack}.count();
  const double once = seconds > 0 ? seconds / gib(stored.size) : kUsualSecondsPerGib;
  const double days = std::chrono::duration<double, std::ratio<86'400>>{stored.unused}.count();
  return once * std::max(1, stored.starts) * std::exp2(-days / kHalfLifeDays);
}

StorePlan plan_store(const StoredWorth& wanted, std::span<const StoredWorth> kept, Bytes room,
                     StoreWish wish) {
  if (room == Bytes{}) return refused("there is no room on disk for what starts compute");
  if (wanted.size > room) {
    return refused(fmt::format("it takes {}, more than the {} for all of them",
                               size_text(wanted.size), size_text(room)));
  }
  const double worth = seconds_per_gib(wanted);
  if (wish == StoreWish::kIfItPays && worth < kLeastSecondsPerGib) {
    return refused(fmt::format("repacking takes too little time to be worth {} of disk",
                               size_text(wanted.size)));
  }
  StorePlan plan;
  Bytes used = size_of(kept);
  for (const std::size_t index : by_worth(kept)) {
    if (used + wanted.size <= room) break;
    if (wish == StoreWish::kIfItPays && seconds_per_gib(kept[index]) >= worth) {
      return refused("what is kept already is worth more");
    }
    used = used - kept[index].size;
    plan.evict.push_back(index);
  }
  plan.store = true;
  return plan;
}

std::vector<std::size_t> beyond_room(std::span<const StoredWorth> kept, Bytes room) {
  std::vector<std::size_t> gone;
  Bytes used = size_of(kept);
  for (const std::size_t index : by_worth(kept)) {
    if (used <= room) break;
    used = used - kept[index].size;
    gone.push_back(index);
  }
  return gone;
}

}  // namespace hearth
