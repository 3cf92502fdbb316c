// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "front/keeper.h"
#include "front/levels/level_room.h"
#include "front/model.h"
#include "front/prefix_desk.h"

namespace hearth::front {

// What the front's models have in memory, as levels that can be given up, and how each is. Belongs
// to the loop.
class HostLevels {
 public:
  struct World {
    EventLoop& loop;
    std::function<std::vector<Model*>()> models;              // those that have a host
    std::function<Model*(const std::string& artifact)> find;  // null: not any more
    Keeper& keeper;
    PrefixDesk* prefix = nullptr;  // null: the layer is switched off
    // Whether somebody's pin keeps it; layer: "weights" or "pages".
    std::function<bool(const std::string& artifact, std::string_view layer)> pinned;
    // Requests to be expected, and how much they count against others'.
    std::function<double(const Model&)> arrivals_per_hour;
    std::function<int(const std::string& artifact)> priority;
    // A promise that forbids going below: see warm(T, g).
    std::function<FloorReason(const std::string& artifact, HoldingKind kind)> floor =
        [](const std::string&, HoldingKind) { return FloorReason::kNone; };
  };
  explicit HostLevels(World world) : world_{std::move(world)} {}

  std::vector<Held> held() const;
  std::vector<Held> held_on_devices() const;
  Bytes held_by_load(const std::string& artifact) const;
  std::vector<Holding> holdings(LevelRoom::World::Busy busy) const;

  // Returns what came back. Errors: kConflict (it is pinned, or in use), kNoSpace (of a disk),
  // kUnavailable.
  Task<Result<Bytes>> make(Move move);

 private:
  Holding holding_of(const Model& model, HoldingKind kind, Bytes held) const;
  void add_floor(Holding& holding, std::string_view layer) const;
  std::optional<Holding> weights_of(const Model& model, LevelRoom::World::Busy busy) const;
  std::optional<Holding> device_of(const Model& model, LevelRoom::World::Busy busy) const;
  std::optional<Holding> worker_of(const Model& model) const;
  std::optional<Holding> prefixes_of(const Model& model) const;
  std::optional<Holding> pins_of(const Model& model) const;
  Task<Result<Bytes>> give_back_weights(Move move);
  Task<Result<Bytes>> end_worker(std::string artifact);

  World world_;
};

}  // namespace hearth::front
