// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "front/model_host.h"
#include "layers/artifact/artifact_layer.h"
#include "layers/compiled/compiled_layer.h"
#include "layers/compiled/no_compilations.h"
#include "layers/pages/pages_layer.h"
#include "layers/prefix/prefix_layer.h"
#include "layers/weights/weights_layer.h"
#include "timeline/snapshot.h"

namespace hearth::front {

// The front's hosts as the layers see them. Belongs to the loop.
class HostWorkers : public Workers {
 public:
  // Null for an artifact that has no host.
  using Find = std::function<ModelHost*(const std::string& artifact)>;
  HostWorkers(EventLoop& loop, Find find) : loop_{loop}, find_{std::move(find)} {}

  std::optional<WorkerState> state(const Subject& subject) const override;
  Task<Result<>> load(Subject subject, hearth::Progress& progress) override;
  Task<Result<Bytes>> unload(Subject subject) override;

 private:
  EventLoop& loop_;
  Find find_;
};

// The five layers, each behind the same door, and what they share. Belongs to the loop.
class LayerSet {
 public:
  struct World {
    EventLoop& loop;
    Pool& pool;
    const Files& files;
    const Clock& clock;
    HostWorkers::Find host;
    std::function<std::optional<LoadSet>(const std::string& artifact)> load_set;
    std::function<Bytes(const std::string& artifact)> pinned_pages;
    ReadGuide* read_guide = nullptr;  // see PagesLayer::World
    Compilations* compilations = &NoCompilations::instance();
    StoredPrefixes* prefixes = &NoStoredPrefixes::instance();
  };
  explicit LayerSet(World world);

  ArtifactLayer& artifact() { return artifact_; }
  PagesLayer& pages() { return pages_; }
  const PagesLayer& pages() const { return pages_; }
  WeightsLayer& weights() { return weights_; }
  const CompiledLayer& compiled() const { return compiled_; }

  Layer& of(LayerKind kind);
  const Layer& of(LayerKind kind) const;

  // The last snapshot of one layer, as reports and lists show it.
  LayerSnapshot snapshot(LayerKind kind, const Subject& subject) const;

 private:
  HostWorkers workers_;
  ArtifactLayer artifact_;
  PagesLayer pages_;
  WeightsLayer weights_;
  CompiledLayer compiled_;
  PrefixLayer prefix_;
};

}  // namespace hearth::front
