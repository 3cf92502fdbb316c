// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "layers/artifact/catalogue.h"
#include "layers/layer.h"

namespace hearth {

// The layer's state of these files. Pure.
LayerState artifact_state(const Artifact& artifact);

// The files of the models, as the catalogue last saw them. The catalogue lives on a pool thread;
// who owns both hands what list() and recheck() returned to this layer. Belongs to the loop.
class ArtifactLayer : public Layer {
 public:
  // Takes the place of everything known so far.
  void update(const std::vector<NamedModel>& models);
  // One artifact, after a recheck; `old_id` is what it was asked for by.
  void update(const std::string& old_id, Artifact artifact);

  // Null when the catalogue has no such artifact. Valid until the next update().
  const Artifact* find(const std::string& id) const;

  // Levels: "absent" when a file is missing or was given back, "partial" when the files are no
  // whole model or some hold wrong bytes (the fraction is what is known to be right), "local", and
  // "verified" once all content was hashed and is what it was.
  LayerState observe(const Subject& subject) const override;
  // Known and zero when the files are here and right; otherwise the bytes of the origin.
  Estimate cost_to_warm(const Subject& subject) const override;

  // Only tells: fetching and hashing are the front's, who knows who waits for it. Errors:
  // kNotFound, when a file is missing; kCorrupt; kUnsupported for "verified" before it is.
  Task<Result<LayerState>> warm(Subject subject, Target target, Progress& progress) override;
  // Errors: kUnsupported: other programs' files are theirs, and our own are given back by the
  // front.
  Task<Result<Bytes>> cool(Subject subject, Target target) override;

 private:
  std::unordered_map<std::string, Artifact> artifacts_;
};

}  // namespace hearth
