// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "front/compiled_builder.h"
#include "front/compiled_store.h"
#include "front/driver_caches.h"
#include "layers/artifact/catalogue.h"
#include "layers/compiled/compilations.h"

namespace hearth::front {

// All that the front keeps of what starts compute: stored repacks, their building in the
// background, and the drivers' caches, within one budget. Belongs to the loop; stop() before
// destroying it.
class CompiledRoom : public Compilations {
 public:
  struct World {
    EventLoop& loop;
    Pool& pool;
    const Files& files;
    const Clock& clock;
    std::string data;  // the data directory
    std::string engine;
    DriverCaches::Environment environment;
    bool enabled = true;  // false: the layer is switched off, and what is there stays unused
    Bytes budget;         // zero: nothing is kept
    const std::vector<NamedModel>& models;
    std::function<ModelHost*(const std::string& artifact)> host;
    // Has a model's content hashed, if it is not yet.
    std::function<Task<Result<>>(std::string name)> hash;
  };
  // Looks at the drivers. Blocks: before the loop runs.
  explicit CompiledRoom(World world);

  // Brings the directory in order: what is no more of use goes.
  Task<void> tidy();
  Task<void> stop();

  // For the planner of loads; see CompiledStore::find(). The first load of a model with devices
  // after the drivers changed has that for its cause.
  Task<StoredRepack> find(std::string artifact, wire::CompileKey key);
  // A load has ended well.
  void note_load(const ModelHost& host);
  // What a load of this model touches, with what is stored for it.
  LoadSet load_set(const Artifact& artifact) const;

  // The files that are stored for it.
  std::vector<std::string> files(const std::string& artifact) const;

  // Of all workers: where their drivers keep what they compile.
  std::vector<std::string> worker_variables() const { return drivers_.variables(); }

  State state(const Subject& subject) const override;
  Task<Bytes> measure_drivers(Subject subject) override;
  Task<Result<>> build(Subject subject) override;
  Task<Result<Bytes>> drop(Subject subject) override;

 private:
  bool keeps() const { return world_.enabled && world_.budget > Bytes{}; }
  Bytes room() const { return world_.budget - drivers_.last_size(); }
  const NamedModel* named(const std::string& artifact) const;
  std::optional<std::string> content(const std::string& artifact) const;
  int models_with(const std::string& content) const;
  std::optional<wire::CompileKey> key_of(const std::string& artifact) const;
  bool meets_new_drivers(const std::string& artifact);
  bool uses_device(const std::string& artifact) const;
  CompiledStore::World store_world();
  Task<void> look_at_drivers();
  Task<void> keep_drivers_within_budget();

  World world_;
  DriverCaches drivers_;
  CompiledStore store_;
  CompiledBuilder builder_;
  Gate tasks_;
  std::map<std::string, wire::ReadyMessage> ready_;  // the last of each artifact's workers
  std::set<std::string> met_drivers_;                // artifacts loaded since the drivers changed
};

}  // namespace hearth::front
