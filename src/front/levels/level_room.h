// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/event_loop.h"
#include "base/sync.h"
#include "front/levels/load_line.h"
#include "front/levels/move.h"
#include "front/levels/move_log.h"
#include "front/levels/pressure_sense.h"
#include "front/load_gate.h"
#include "front/memory/machine_memory.h"
#include "front/memory/memory_budget.h"
#include "policy/holding.h"
#include "policy/moves.h"
#include "timeline/memory_figures.h"

namespace hearth::front {

// Memory, and who gives it up for whom: measures what models and the machine have, lets loads in
// when there is room, makes room one move at a time where what has to go is worth less than what
// comes, and gives memory back when others want it. Belongs to the loop. stop() before destroying
// it, after all loads have ended.
class LevelRoom {
 public:
  struct World {
    EventLoop& loop;
    const Clock& clock;
    // Memory as it was last measured, by what it is for.
    std::function<std::vector<Held>()> held;
    // Likewise of GPUs' memory. All of them count as one.
    std::function<std::vector<Held>()> held_on_devices;
    // How much of it is this model's load's.
    std::function<Bytes(const std::string& artifact)> held_by_load;
    // Of its files' pages, locked in memory, and part of what is held.
    std::function<Bytes(const std::string& artifact)> pinned;
    // What could go down, with the model's artifact as subject. kYielding: models that are in use,
    // but have served all who waited for their load, count as idle.
    enum class Busy { kStays, kYielding };
    std::function<std::vector<Holding>(Busy)> holdings;
    // Makes one move; returns what came back.
    std::function<Task<Result<Bytes>>(Move)> move;
    std::function<int(const std::string& artifact)> priority;
    std::function<std::string(const std::string& artifact)> name;  // for people
    std::function<void(const MoveRecord&)> on_move = [](const MoveRecord&) {};
    // See LoadLine::World.
    std::function<std::optional<Duration>(const std::string& artifact)> load_time = {};
    // What others than the kernel say: memory is wanted for a service that comes first.
    std::function<bool()> wanted_by_others = [] { return false; };
    std::string root = {};  // before /proc and /sys
  };
  struct Settings {
    Bytes limit;                   // 0: a share of what is available
    std::optional<Bytes> reserve;  // nullopt: the default
    Bytes device_limit;            // 0: all
    PressureTerms pressure;
  };
  LevelRoom(World world, Settings settings);

  void set(Settings settings);

  LoadGate& gate() { return line_; }
  // Something may have changed: who is busy, what is held.
  void look_again() { line_.poke(); }
  std::optional<int> ahead_of(const std::string& artifact) const {
    return line_.ahead_of(artifact);
  }
  int waiting() const { return line_.waiting(); }

  // Looks for pressure, until stop().
  Task<void> run();
  void stop();

  // Makes a move that somebody decided on, if the model is idle. Errors: kConflict; the move's.
  Task<Result<Bytes>> give_up(Move move, std::string cause);
  // Takes a move that others made, or notes one.
  void note(MoveRecord move);
  // What could be filled now without anything going down for it.
  Bytes free();
  // The last time that memory was taken back for others; nullopt: never.
  std::optional<TimePoint> pressed_at() const { return pressed_at_; }

  const MemoryBudget& budget() const { return budget_; }
  // As it is now, the machine's memory and that of GPUs.
  std::vector<MemoryFigures> figures();
  const MoveLog& moves() const { return moves_; }
  // Percent of the last five minutes in which something waited for memory.
  std::optional<double> memory_avg300() const { return machine_.memory_pressure.some_avg300; }
  // As it is now.
  std::string memory_json(Bytes ours_in_page_cache);

 private:
  class Leave;

  void measure();
  void warn_of_limit() const;
  Result<std::unique_ptr<LoadLeave>> reserve(const LoadWish& wish);
  RoomPlan plan(const LoadWish& wish);
  RoomPlan plan_in(const MemoryDemand& demand) const;
  Bytes needed_by(const LoadWish& wish) const;
  Task<Result<>> make_way(Move move, LoadWish wish);
  Task<Result<Bytes>> make(Move move, std::string cause, std::string for_whom);
  MemorySign sign() const;
  Task<void> relieve(Bytes wanted);
  std::string cause_of_pressure() const;
  std::optional<Move> least_regretted(Bytes wanted);
  std::vector<Holding> movable(World::Busy busy) const;

  World world_;
  Settings settings_;
  MachineMemoryReader reader_;
  MachineMemory machine_;
  MemoryBudget budget_;
  MemoryBudget devices_;
  PressureSense sense_;
  MoveLog moves_;
  std::list<Leave*> leaves_;  // open ones, owned by the hosts
  LoadLine line_;
  Notify woken_;
  bool stopping_ = false;
  std::optional<TimePoint> pressed_at_;
  // What gave nothing when it was moved last, and until when it is left alone.
  using Place = std::pair<Move::What, std::string>;
  std::map<Place, TimePoint> stuck_;
};

// What a plan of the policy's is for a worker; nullopt for what is not moved from here.
std::optional<Move> move_for(const Holding& holding, Bytes freed);

}  // namespace hearth::front
