// SPDX-License-Identifier: Apache-2.0
#include "policy/moves.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/size_text.h"

namespace hearth {
namespace {

using Why = Shortfall::Why;

constexpr Bytes smaller(Bytes a, Bytes b) { return a < b ? a : b; }

bool concerns(const MemoryDemand& demand, const Holding& holding) {
  return holding.device == demand.device && holding.subject != demand.subject &&
         holding.kind != HoldingKind::kPageCache && holding.held > Bytes{};
}

std::optional<Why> what_bars(const Holding& holding) {
  if (holding.busy) return Why::kBusy;
  if (holding.owed > 0) return Why::kOwed;
  if (holding.floor >= holding.held) {
    return holding.floor_reason == FloorReason::kWarmBound ? Why::kWarmBound : Why::kPin;
  }
  if (holding.step == Bytes{} && holding.floor > Bytes{}) return Why::kIndivisible;
  return std::nullopt;
}

Bytes movable_of(const Holding& holding) {
  return what_bars(holding) ? Bytes{} : holding.held - holding.floor;
}

// Whole steps, but for the last one.
Bytes step_up(Bytes wanted, const Holding& holding) {
  const Bytes movable = movable_of(holding);
  const std::uint64_t step = holding.step.count();
  if (step == 0 || wanted >= movable) return movable;
  const std::uint64_t steps = wanted.count() / step + (wanted.count() % step != 0 ? 1 : 0);
  return step > movable.count() / steps ? movable : smaller(movable, Bytes{steps * step});
}

class Planner {
 public:
  Planner(const MemoryDemand& demand, std::span<const Holding> holdings)
      : demand_{demand}, holdings_{holdings}, taken_(holdings.size()) {}

  MovePlan plan() {
    Bytes missing = demand_.needed - demand_.free;
    while (missing > Bytes{}) {
      const std::optional<std::size_t> next = least_regretted();
      if (!next) break;
      const Bytes taken = step_up(missing, holdings_[*next]);
      taken_[*next] = taken;
      order_.push_back(*next);
      missing = missing - taken;
    }
    give_back_what_is_too_much();
    return made();
  }

 private:
  // A hollow worker is of use only while the rest of its model has gone.
  bool is_its_turn(const Holding& holding) const {
    if (holding.kind != HoldingKind::kHollowWorker) return true;
    for (std::size_t i = 0; i < holdings_.size(); ++i) {
      const Holding& other = holdings_[i];
      const bool before = other.subject == holding.subject && other.device == holding.device &&
                          other.kind != HoldingKind::kHollowWorker &&
                          other.kind != HoldingKind::kPageCache;
      if (before && taken_[i] < other.held) return false;
    }
    return true;
  }

  bool comes_before(std::size_t a, std::size_t b) const {
    const double regret_a = regret_per_byte(holdings_[a]);
    const double regret_b = regret_per_byte(holdings_[b]);
    if (regret_a != regret_b) return regret_a < regret_b;
    return a < b;
  }

  std::optional<std::size_t> least_regretted() const {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < holdings_.size(); ++i) {
      if (taken_[i] > Bytes{} || !concerns(demand_, holdings_[i])) continue;
      if (movable_of(holdings_[i]) == Bytes{} || !is_its_turn(holdings_[i])) continue;
      if (!best || comes_before(i, *best)) best = i;
    }
    return best;
  }

  // The last move may have freed so much that others before it need not be.
  void give_back_what_is_too_much() {
    Bytes freed{};
    for (const Bytes taken : taken_) freed += taken;
    for (std::size_t at = order_.size(); at-- > 0;) {
      const std::size_t i = order_[at];
      const Bytes excess = freed - (demand_.needed - demand_.free);
      const Bytes needed =
          excess >= taken_[i] ? Bytes{} : step_up(taken_[i] - excess, holdings_[i]);
      if (needed >= taken_[i] || is_needed_by_hollow(i)) continue;
      freed = freed - (taken_[i] - needed);
      taken_[i] = needed;
    }
    std::erase_if(order_, [this](std::size_t i) { return taken_[i] == Bytes{}; });
  }

  bool is_needed_by_hollow(std::size_t i) const {
    for (const std::size_t other : order_) {
      if (other != i && holdings_[other].kind == HoldingKind::kHollowWorker &&
          taken_[other] > Bytes{} && holdings_[other].subject == holdings_[i].subject) {
        return true;
      }
    }
    return false;
  }

  MovePlan made() const {
    MovePlan plan;
    for (const std::size_t i : order_) {
      const Holding& holding = holdings_[i];
      plan.moves.push_back({i, taken_[i], holding.held - taken_[i],
                            regret_per_byte(holding) * static_cast<double>(taken_[i].count())});
      plan.freed += taken_[i];
    }
    return plan;
  }

  const MemoryDemand& demand_;
  std::span<const Holding> holdings_;
  std::vector<Bytes> taken_;  // of each holding
  std::vector<std::size_t> order_;
};

Shortfall shortfall_of(const MemoryDemand& demand, std::span<const Holding> holdings,
                       Bytes movable) {
  Shortfall shortfall;
  shortfall.needed = demand.needed;
  shortfall.free = demand.free;
  shortfall.movable = movable;
  Bytes later = movable;
  for (std::size_t i = 0; i < holdings.size(); ++i) {
    const Holding& holding = holdings[i];
    if (!concerns(demand, holding)) continue;
    const std::optional<Why> why = what_bars(holding);
    if (why == Why::kBusy || why == Why::kOwed) later += holding.held - holding.floor;
    if (why) {
      shortfall.obstacles.push_back({i, holding.held, *why});
    } else if (holding.floor > Bytes{}) {
      const bool promise = holding.floor_reason == FloorReason::kWarmBound;
      shortfall.obstacles.push_back({i, holding.floor, promise ? Why::kWarmBound : Why::kPin});
    }
  }
  std::ranges::sort(shortfall.obstacles, [](const auto& a, const auto& b) {
    return std::pair{b.bytes, a.holding} < std::pair{a.bytes, b.holding};
  });
  shortfall.passes = demand.free + later >= demand.needed;
  return shortfall;
}

}  // namespace

tl::expected<MovePlan, Shortfall> plan_to_free(const MemoryDemand& demand,
                                               std::span<const Holding> holdings) {
  MovePlan plan = Planner{demand, holdings}.plan();
  if (demand.free + plan.freed >= demand.needed) return plan;
  return tl::unexpected{shortfall_of(demand, holdings, plan.freed)};
}

std::string_view name_of(Shortfall::Why why) {
  switch (why) {
    case Why::kBusy:
      return "in use";
    case Why::kOwed:
      return "others waited for it";
    case Why::kPin:
      return "pinned";
    case Why::kWarmBound:
      return "promised to be warm";
    case Why::kIndivisible:
      return "cannot be given up in part";
  }
  return "?";
}

std::string text_of(const Shortfall& shortfall, std::span<const Holding> holdings) {
  std::string text = fmt::format("{} are needed, {} are free and {} could be given up",
                                 size_text(shortfall.needed), size_text(shortfall.free),
                                 size_text(shortfall.movable));
  for (const Shortfall::Obstacle& obstacle : shortfall.obstacles) {
    const Holding& holding = holdings[obstacle.holding];
    text += fmt::format("{} {} keeps {} ({}: {})", text.find(';') == text.npos ? ";" : ",",
                        holding.subject, size_text(obstacle.bytes), name_of(holding.kind),
                        name_of(obstacle.why));
  }
  return text;
}

}  // namespace hearth
