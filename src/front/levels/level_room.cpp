// SPDX-License-Identifier: Apache-2.0
#include "front/levels/level_room.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/size_text.h"
#include "front/memory/capped_sum.h"
#include "front/memory/memory_gauges.h"
#include "front/memory/memory_json.h"

namespace hearth::front {
namespace {

// The index that holdings in any GPU's memory have: all count as one.
constexpr int kAnyDevice = 0;

// What could not be moved now can hardly be moved at once; meanwhile the next best goes.
constexpr std::chrono::seconds kAfterFailure{15};

// Levels of a layer before and after each kind of move.
struct Step {
  const char* layer;
  const char* from;
  const char* to;
};

Step step_of(Move::What what) {
  switch (what) {
    case Move::What::kPrefixes:
      return {"prefix", "in RAM", "on disk"};
    case Move::What::kWeights:
      return {"weights", "resident", "hollow"};
    case Move::What::kWorker:
      return {"weights", "hollow", "none"};
    case Move::What::kPages:
      return {"pages", "pinned", "resident"};
  }
  return {"", "", ""};
}

MemoryBudget::Settings budget_settings(const LevelRoom::Settings& settings) {
  MemoryBudget::Settings budget;
  budget.configured = settings.limit;
  budget.reserve = settings.reserve;
  return budget;
}

}  // namespace

std::optional<Move> move_for(const Holding& holding, Bytes freed) {
  const auto move = [&](Move::What what) { return Move{what, holding.subject, freed}; };
  switch (holding.kind) {
    case HoldingKind::kPrefixBlocks:
      return move(Move::What::kPrefixes);
    case HoldingKind::kWeights:
    case HoldingKind::kRepackedWeights:
    case HoldingKind::kDeviceWeights:
    case HoldingKind::kDeviceContext:
      return move(Move::What::kWeights);
    case HoldingKind::kHollowWorker:
      return move(Move::What::kWorker);
    case HoldingKind::kPinnedPages:
      return move(Move::What::kPages);
    case HoldingKind::kPageCache:
      return std::nullopt;
  }
  return std::nullopt;
}

// A load's memory, promised until it shows in what is held.
class LevelRoom::Leave : public LoadLeave {
 public:
  Leave(LevelRoom& room, Reservation memory, Reservation device)
      : room_{room}, memory_{std::move(memory)}, device_{std::move(device)} {
    room_.leaves_.push_back(this);
  }
  ~Leave() override {
    room_.leaves_.remove(this);
    room_.look_again();
  }
  Leave(const Leave&) = delete;
  Leave& operator=(const Leave&) = delete;

  void measure() { memory_.now_held(room_.world_.held_by_load(memory_.artifact())); }
  Bytes left() const { return memory_.left(); }
  // All of it is there with the load's end, or none.
  void measure_device(Bytes held) { device_.now_held(held); }
  const std::string& artifact() const { return memory_.artifact(); }

 private:
  LevelRoom& room_;
  Reservation memory_;
  Reservation device_;
};

LevelRoom::LevelRoom(World world, Settings settings)
    : world_{std::move(world)},
      settings_{settings},
      reader_{world_.root, world_.clock},
      budget_{budget_settings(settings)},
      devices_{MemoryBudget::of_device("device memory", settings.device_limit)},
      line_{LoadLine::World{
          world_.loop, [this](const LoadWish& wish) { return reserve(wish); },
          [this](const LoadWish& wish) { return plan(wish); },
          [this](Move move, LoadWish wish) { return make_way(std::move(move), std::move(wish)); },
          world_.priority, world_.load_time}},
      woken_{world_.loop} {
  measure();
  warn_of_limit();
}

void LevelRoom::warn_of_limit() const {
  const std::string complaint = budget_.complaint();
  if (!complaint.empty()) log::warn("memory.limit_too_large", {{"means", complaint}});
}

void LevelRoom::set(Settings settings) {
  settings_ = settings;
  budget_.set_limit(settings.limit);
  devices_.set_limit(settings.device_limit);
  budget_.set_kept_free(settings.reserve);
  warn_of_limit();
  woken_.notify_all();
  look_again();
}

// ---- measuring ----

void LevelRoom::measure() {
  budget_.set_held(world_.held());
  for (Leave* leave : leaves_) leave->measure();
  machine_ = reader_.read();
  budget_.set_reading(machine_);
  const std::vector<Held> on_devices = world_.held_on_devices();
  devices_.set_held(on_devices);
  for (Leave* leave : leaves_) {
    for (const Held& held : on_devices) {
      if (held.model == leave->artifact()) leave->measure_device(held.bytes);
    }
  }
}

Bytes LevelRoom::free() {
  measure();
  return budget_.free();
}

std::string LevelRoom::memory_json(Bytes ours_in_page_cache) {
  measure();
  std::vector<const MemoryBudget*> devices;
  if (!devices_.held_by().empty()) devices.push_back(&devices_);
  return front::memory_json({machine_, budget_, std::move(devices), ours_in_page_cache});
}

std::vector<MemoryFigures> LevelRoom::figures() {
  measure();
  return {figures_of("machine", budget_), figures_of("devices", devices_)};
}

// ---- loads ----

Result<std::unique_ptr<LoadLeave>> LevelRoom::reserve(const LoadWish& wish) {
  measure();
  Result<Reservation> memory = budget_.reserve(wish.artifact, needed_by(wish));
  if (!memory) return Failed{std::move(memory).error()};
  Reservation device;
  if (wish.device > Bytes{}) {
    Result<Reservation> reserved = devices_.reserve(wish.artifact, wish.device);
    if (!reserved) return Failed{std::move(reserved).error()};
    device = std::move(*reserved);
  }
  return std::make_unique<Leave>(*this, std::move(*memory), std::move(device));
}

RoomPlan LevelRoom::plan(const LoadWish& wish) {
  const Bytes needed = needed_by(wish);
  const bool lacks_memory = needed > budget_.free();
  const MemoryBudget& budget = lacks_memory ? budget_ : devices_;
  MemoryDemand demand{needed, budget_.free(), kHostMemory, wish.artifact};
  if (!lacks_memory) demand = {wish.device, devices_.free(), kAnyDevice, wish.artifact};
  RoomPlan plan = plan_in(demand);
  plan.why = fmt::format("\"{}\" does not fit into memory: {}; the limit is {} ({})", wish.name,
                         plan.why, size_text(budget.limit()), budget.why_limit());
  return plan;
}

std::vector<Holding> LevelRoom::movable(World::Busy busy) const {
  std::vector<Holding> holdings = world_.holdings(busy);
  const TimePoint now = world_.loop.now();
  for (Holding& holding : holdings) {
    const auto move = move_for(holding, holding.held);
    if (!move) continue;
    // What is promised to it and not taken yet comes free with it.
    for (const Leave* leave : leaves_) {
      const bool its =
          holding.kind == HoldingKind::kWeights && leave->artifact() == holding.subject;
      if (!its) continue;
      holding.held += leave->left();
      if (holding.floor > Bytes{}) holding.floor = holding.held;
    }
    const auto stuck = stuck_.find({move->what, move->artifact});
    if (stuck != stuck_.end() && now < stuck->second) holding.busy = true;
  }
  return holdings;
}

// First over what nobody uses; where that is not enough, also over what has served its turn.
RoomPlan LevelRoom::plan_in(const MemoryDemand& demand) const {
  RoomPlan plan;
  Shortfall shortfall;
  for (const World::Busy busy : {World::Busy::kStays, World::Busy::kYielding}) {
    std::vector<Holding> holdings = movable(busy);
    auto moves = plan_to_free(demand, holdings);
    if (moves) {
      for (const PlannedMove& planned : moves->moves) {
        if (auto move = move_for(holdings[planned.holding], planned.freed)) {
          plan.moves.push_back(std::move(*move));
        }
      }
      return plan;
    }
    for (Holding& holding : holdings) holding.subject = world_.name(holding.subject);
    plan.why = text_of(moves.error(), holdings);
    shortfall = std::move(moves).error();
  }
  plan.never = !shortfall.passes;
  return plan;
}

// Locked pages are in memory already, and count as such.
Bytes LevelRoom::needed_by(const LoadWish& wish) const {
  const Bytes there = std::min(world_.pinned(wish.artifact), wish.mapped);
  return wish.memory - std::min(wish.memory, there);
}

Task<Result<>> LevelRoom::make_way(Move move, LoadWish wish) {
  auto made = co_await make(std::move(move), "evicted_for", std::move(wish.name));
  if (!made) co_return Failed{std::move(made).error()};
  co_return Result<>{};
}

Task<Result<Bytes>> LevelRoom::make(Move move, std::string cause, std::string for_whom) {
  const TimePoint begun = world_.loop.now();
  const Step step = step_of(move.what);
  MoveRecord record;
  record.model = world_.name(move.artifact);
  record.layer = step.layer;
  record.from = step.from;
  record.to = step.to;
  record.cause = std::move(cause);
  record.for_whom = std::move(for_whom);
  const Place place{move.what, move.artifact};
  auto made = co_await world_.move(std::move(move));
  if (made && *made == Bytes{}) made = fail(ErrorCode::kConflict, "nothing came back of it");
  if (made) record.bytes = *made;
  stuck_.erase(place);
  const bool called_off = !made && made.error().code() == ErrorCode::kCancelled;
  if (!made && !called_off) stuck_[place] = world_.loop.now() + kAfterFailure;
  if (!made) record.error = made.error().message();
  record.time = world_.loop.now() - begun;
  note(std::move(record));
  co_return made;
}

Task<Result<Bytes>> LevelRoom::give_up(Move move, std::string cause) {
  const std::vector<Holding> holdings = world_.holdings(World::Busy::kStays);
  const bool may = std::ranges::any_of(holdings, [&](const Holding& holding) {
    const auto like = move_for(holding, holding.held);
    return like && like->what == move.what && like->artifact == move.artifact && !holding.busy &&
           holding.floor == Bytes{};
  });
  if (!may) co_return fail(ErrorCode::kConflict, "it is in use, or held by a pin or a promise");
  std::string nobody;
  co_return co_await make(std::move(move), std::move(cause), std::move(nobody));
}

void LevelRoom::note(MoveRecord move) {
  move.at_us = world_.clock.wall_us();
  log::info("level.moved", {{"model", move.model},
                            {"layer", move.layer},
                            {"from", move.from},
                            {"to", move.to},
                            {"cause", move.cause},
                            {"for", move.for_whom},
                            {"bytes", move.bytes.count()},
                            {"error", move.error}});
  world_.on_move(move);
  moves_.add(std::move(move));
}

// ---- pressure ----

// Of a kernel that does not tell what is available nothing is asked for.
MemorySign LevelRoom::sign() const {
  MemorySign sign;
  sign.over = budget_.shortfall();
  if (!machine_.total || !machine_.room()) return sign;
  sign.total = *machine_.total;
  if (machine_.cgroup) sign.total = std::min(sign.total, machine_.cgroup->limit);
  sign.available = *machine_.room();
  sign.reserve = budget_.kept_free();
  sign.some_avg10 = machine_.memory_some_avg10();
  return sign;
}

Task<void> LevelRoom::run() {
  while (!stopping_) {
    measure();
    Bytes wanted = sense_.wanted(sign(), world_.loop.now(), settings_.pressure);
    if (wanted == Bytes{} && world_.wanted_by_others()) wanted = Bytes{1};
    if (wanted > Bytes{}) co_await relieve(wanted);
    if (waiting() > 0) look_again();
    const TimePoint next = world_.loop.now() + PressureSense::interval(sign());
    (void)co_await woken_.wait_until(next);
  }
}

void LevelRoom::stop() {
  stopping_ = true;
  woken_.notify_all();
}

// One move; whether more is wanted the next look says.
Task<void> LevelRoom::relieve(Bytes wanted) {
  pressed_at_ = world_.loop.now();
  std::optional<Move> move = least_regretted(wanted);
  if (!move) co_return;
  std::string cause = cause_of_pressure(), nobody;
  (void)co_await make(std::move(*move), std::move(cause), std::move(nobody));
}

std::string LevelRoom::cause_of_pressure() const {
  return world_.wanted_by_others() ? "protected" : "pressure";
}

// What is there is given up even where all of it is not enough.
std::optional<Move> LevelRoom::least_regretted(Bytes wanted) {
  const std::vector<Holding> holdings = movable(World::Busy::kStays);
  MemoryDemand demand{wanted, Bytes{}, kHostMemory, ""};
  auto plan = plan_to_free(demand, holdings);
  if (!plan && plan.error().movable > Bytes{}) {
    demand.needed = plan.error().movable;
    plan = plan_to_free(demand, holdings);
  }
  if (!plan || plan->moves.empty()) return std::nullopt;
  const PlannedMove& first = plan->moves.front();
  return move_for(holdings[first.holding], first.freed);
}

}  // namespace hearth::front
