// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/async.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/result.h"
#include "layers/progress.h"

namespace hearth {

// The five caches between a model's file and its first token, outermost first. Each is warm or cold
// by itself.
enum class LayerKind { kArtifact, kPages, kWeights, kCompiled, kPrefix };

// "artifact", "pages", ...
std::string_view name_of(LayerKind kind);
std::optional<LayerKind> layer_named(std::string_view name);

// What a layer is asked about: one model file as loaded with one set of options.
struct Subject {
  std::string artifact;  // the catalogue's id
  std::string model;     // a name to show, never used to look anything up
  std::string options;   // key of the load options that cannot be changed on a live worker
};

// How warm one layer is. The words, coldest first:
//   artifact  absent, partial, local, verified        pages    absent, resident, pinned
//   weights   none, hollow, loading, resident         compiled none, stored, live
//   prefix    none, on disk, in RAM, live
struct LayerState {
  LayerKind layer = LayerKind::kArtifact;
  std::string level;
  double fraction = 0;  // 0..1, where the level has a share: partial, resident, pinned, loading
  Bytes bytes;          // held now
  Bytes total;          // held when fully warm, as far as known
  std::string detail;   // one sentence for people, often empty
};

// What warming would take from here. `known` is false until a rate has been measured; `bytes`
// counts in either case.
struct Estimate {
  Duration time{};
  Bytes bytes;
  bool known = false;
};

// Where warm() or cool() is to go: one of the layer's levels, or empty for its warmest or coldest.
struct Target {
  std::string level;
};

// One cache layer: what it holds for a subject, and how to change that. Belongs to the event loop.
//
// warm() and cool() are idempotent: a layer that is there already answers at once. The caller keeps
// the layer and the Progress alive until the task has ended.
class Layer {
 public:
  virtual ~Layer() = default;

  // The last snapshot. Never blocks.
  virtual LayerState observe(const Subject& subject) const = 0;
  virtual Estimate cost_to_warm(const Subject& subject) const = 0;

  // Errors: kNotFound; kCancelled; kUnsupported, when this layer cannot be warmed by itself.
  virtual Task<Result<LayerState>> warm(Subject subject, Target target, Progress& progress) = 0;

  // The bytes given back. Errors: kConflict, while something holds them; kUnsupported.
  virtual Task<Result<Bytes>> cool(Subject subject, Target target) = 0;
};

}  // namespace hearth
