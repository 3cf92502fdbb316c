// SPDX-License-Identifier: Apache-2.0
//
// FrontService's reading: what its devices and load planner ask it.
#include <utility>

#include "front/front_service.h"

namespace hearth::front {

Devices::World FrontService::devices_world() {
  return {
      world_.loop, disk_pool_, history_pool_, world_.files, config_.data + "/devices.json", [this] {
        return serial_reads_named(config_.read_serial);
      }};
}

DiskLoadPlanner::World FrontService::load_planner_world() {
  DiskLoadPlanner::World world{
      devices_, [this](const std::string& artifact) { return load_set_of(artifact); }};
  world.pinned = [this](const std::string& artifact) { return keeper_.held(artifact); };
  world.stored = [this](std::string artifact, wire::CompileKey key) {
    return compiled_.find(std::move(artifact), std::move(key));
  };
  world.patience = [this] { return config_.hang_limit(); };
  return world;
}

}  // namespace hearth::front
