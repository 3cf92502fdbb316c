// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/event_loop.h"
#include "base/files.h"
#include "base/pool.h"
#include "base/result.h"

namespace hearth::front {

// Where GPU drivers keep what they compiled, in a directory of ours: one for each combination of
// engine and driver, since what another one left is of no use. Belongs to the loop.
class DriverCaches {
 public:
  using Environment = std::map<std::string, std::string>;
  struct World {
    EventLoop& loop;
    Pool& pool;
    const Files& files;
    std::string directory;  // of all of them
    std::string engine;     // its build
    Environment environment;
  };
  // kOff: drivers are told to keep nothing.
  enum class Keep { kOn, kOff };

  // Looks at the drivers, and makes the directory. Blocks: before the loop runs.
  DriverCaches(World world, Keep keep);

  // For a worker's environment. What the user has set stays.
  std::vector<std::string> variables() const;

  // What it holds now.
  Task<Bytes> size();
  // At the last look.
  Bytes last_size() const { return last_; }

  // Deletes the directories of other engines and drivers.
  Task<void> drop_others();
  // One of those belonged to this engine: since then the drivers have changed.
  bool drivers_changed() const { return drivers_changed_; }
  // Deletes what it holds; the bytes.
  Task<Bytes> drop();

 private:
  World world_;
  Keep keep_;
  std::string ours_;       // begins the names of this engine's directories
  std::string directory_;  // of this engine and these drivers
  bool drivers_changed_ = false;
  Bytes last_;
};

// Stands for the GPU drivers that are installed, as far as files tell. Blocks.
std::string driver_digest(const Files& files, const DriverCaches::Environment& environment);

}  // namespace hearth::front
