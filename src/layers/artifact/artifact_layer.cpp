// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/artifact_layer.h"

namespace hearth {
namespace {

// Of files that hold what they should.
Bytes good_bytes(const Artifact& artifact) {
  Bytes good;
  for (const Artifact::Shard* file : artifact.files()) {
    if (!file->sha256.empty() && file->rotten_sha256.empty()) good += file->file.size;
  }
  return good;
}

double fraction_of(Bytes part, Bytes whole) {
  if (whole == Bytes{}) return 0;
  return static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

}  // namespace

LayerState artifact_state(const Artifact& artifact) {
  LayerState state;
  state.layer = LayerKind::kArtifact;
  state.level = "absent";
  state.total = artifact.size();
  switch (artifact.status) {
    case ArtifactStatus::kMissing:
      state.detail = "a file of the model is missing";
      return state;
    case ArtifactStatus::kAbsent:
      state.detail =
          artifact.origin.known() ? "given back; the next request fetches it again" : "given back";
      return state;
    case ArtifactStatus::kRotten:
    case ArtifactStatus::kBroken:
      state.level = "partial";
      state.detail = artifact.reason;
      state.bytes = good_bytes(artifact);
      state.fraction = fraction_of(state.bytes, state.total);
      return state;
    case ArtifactStatus::kChanged:
      state.detail = artifact.reason;
      break;
    case ArtifactStatus::kOk:
      break;
  }
  const bool is_verified = artifact.status == ArtifactStatus::kOk && artifact.verified_at_us > 0 &&
                           artifact.content().has_value();
  state.level = is_verified ? "verified" : "local";
  state.fraction = 1;
  state.bytes = state.total;
  return state;
}

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
  if (const Artifact* artifact = find(subject.artifact)) return artifact_state(*artifact);
  LayerState state;
  state.layer = LayerKind::kArtifact;
  state.level = "absent";
  return state;
}

Estimate ArtifactLayer::cost_to_warm(const Subject& subject) const {
  const LayerState state = observe(subject);
  if (state.fraction == 1) return Estimate{Duration{}, Bytes{}, true};
  const Artifact* artifact = find(subject.artifact);
  Bytes fetched;
  if (artifact != nullptr && artifact->origin.known()) {
    for (const Origin::File& file : artifact->origin.files) fetched += file.size;
  }
  if (fetched == Bytes{}) fetched = state.total;
  return Estimate{Duration{}, fetched - state.bytes, false};
}

// Fetching and hashing are long work with waiters of their own, which the front has.
Task<Result<LayerState>> ArtifactLayer::warm(Subject subject, Target target, Progress&) {
  LayerState state = observe(subject);
  const Artifact* artifact = find(subject.artifact);
  const bool can_be_fetched = artifact != nullptr && artifact->origin.known();
  if (state.level == "absent") {
    co_return fail(ErrorCode::kNotFound,
                   can_be_fetched ? "the model's files are not here; they can be fetched again"
                                  : "the model's files are not here; import them again");
  }
  if (state.level == "partial") co_return fail(ErrorCode::kCorrupt, state.detail);
  if (target.level == "verified" && state.level != "verified") {
    co_return fail(ErrorCode::kUnsupported, "not hashed yet; `hearth verify` does it now");
  }
  co_return state;
}

Task<Result<Bytes>> ArtifactLayer::cool(Subject subject, Target) {
  const Artifact* artifact = find(subject.artifact);
  if (artifact != nullptr && artifact->store == Store::kHearth) {
    co_return fail(ErrorCode::kUnsupported, "the files were not given back");
  }
  co_return fail(ErrorCode::kUnsupported,
                 "these files are not this server's and are never deleted; remove the model's "
                 "name instead");
}

}  // namespace hearth
