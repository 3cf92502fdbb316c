// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/artifact_layer.h"

namespace hearth {

void ArtifactLayer::update(const std::vector<NamedModel>& models) {
  artifacts_.clear();
  for (const NamedModel& model : models) artifacts_.emplace(model.artifact.id, model.artifact);
}

void ArtifactLayer::update(const std::string& old_id, Artifact artifact) {
  artifacts_.erase(old_id);
  std::string id = artifact.id;
  artifacts_.insert_or_assign(std::move(id), std::move(artifact));
}

const Artifact* ArtifactLayer::find(const std::string& id) const {
  const auto found = artifacts_.find(id);
  return found == artifacts_.end() ? nullptr : &found->second;
}

LayerState ArtifactLayer::observe(const Subject& subject) const {
  LayerState state;
  state.layer = LayerKind::kArtifact;
  state.level = "absent";
  const Artifact* artifact = find(subject.artifact);
  if (artifact == nullptr) return state;
  state.total = artifact->size();
  switch (artifact->status) {
    case ArtifactStatus::kMissing:
      state.detail = "a file of the model is missing";
      return state;
    case ArtifactStatus::kAbsent:
      state.detail = "given back; it can be fetched again";
      return state;
    case ArtifactStatus::kRotten:
    case ArtifactStatus::kBroken:
      state.level = "partial";
      state.detail = artifact->reason;
      return state;
    case ArtifactStatus::kChanged:
      state.detail = artifact->reason;
      break;
    case ArtifactStatus::kOk:
      break;
  }
  state.level = "local";
  state.fraction = 1;
  state.bytes = state.total;
  return state;
}

Estimate ArtifactLayer::cost_to_warm(const Subject& subject) const {
  const LayerState state = observe(subject);
  return Estimate{Duration{}, state.total - state.bytes, state.level == "local"};
}

Task<Result<LayerState>> ArtifactLayer::warm(Subject subject, Target target, Progress&) {
  LayerState state = observe(subject);
  if (target.level == "verified") {
    co_return fail(ErrorCode::kUnsupported, "files cannot be verified yet");
  }
  if (state.level == "absent") {
    co_return fail(ErrorCode::kNotFound, "the model's files are not here; import them again");
  }
  if (state.level == "partial") co_return fail(ErrorCode::kCorrupt, state.detail);
  co_return state;
}

Task<Result<Bytes>> ArtifactLayer::cool(Subject, Target) {
  co_return fail(ErrorCode::kUnsupported,
                 "imported files are never deleted; remove the model's name instead");
}

}  // namespace hearth
