// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "front/devices.h"
#include "front/load_plan.h"
#include "layers/artifact/load_set.h"

namespace hearth::front {

// Plans loads by where the files lie, what of them is missing, and what was measured there. Belongs
// to the loop.
class DiskLoadPlanner : public LoadPlanner {
 public:
  // Outlives the planner and its tasks. All functions are called on the loop.
  struct World {
    Devices& devices;
    std::function<std::optional<LoadSet>(const std::string& artifact)> load_set;
    // How much of it is locked in memory; may be empty.
    std::function<Bytes(const std::string& artifact)> pinned = {};
    // A stored repack that fits; may be empty.
    std::function<Task<StoredRepack>(std::string artifact, wire::CompileKey key)> stored = {};
    // How long a worker may show no progress.
    std::function<std::chrono::seconds()> patience = {};
  };
  explicit DiskLoadPlanner(World world) : world_{std::move(world)} {}

  Task<LoadPlan> plan(std::string artifact, wire::ReadyMessage ready) override;

  // What a planned load then did.
  void note_loaded(const std::string& artifact, const wire::LoadedMessage& loaded);

 private:
  struct Planned {
    std::string device;
    ReadStyle style;
  };
  Task<void> plan_reading(std::string artifact, Bytes besides, LoadPlan& plan);

  World world_;
  std::map<std::string, Planned> planned_;  // by artifact, until it is loaded
};

// Whether the page cache can hold what is not locked of a load set, beside what the load takes of
// its own memory. Without a known room it can.
ReadNeed::Fit fit_of(const Survey& survey, Bytes pinned, Bytes besides);

}  // namespace hearth::front
