// SPDX-License-Identifier: Apache-2.0
//
// FrontService's looks at models' files before they are used, and at the catalogue after them.
#include <algorithm>
#include <utility>

#include "front/front_service.h"
#include "front/live_json.h"
#include "front/verify/verdict_text.h"

namespace hearth::front {
namespace {

// Files that change faster than they can be looked at are refused.
constexpr int kMostLooks = 3;

}  // namespace

Task<Result<Model*>> FrontService::resolve(std::string name) {
  Result<ModelName> parsed = ModelName::parse(name);
  if (!parsed) co_return Failed{std::move(parsed).error().at("model")};
  const NamedModel* named = find(parsed->key());
  if (named == nullptr) {
    co_return Failed{Error{ErrorCode::kNotFound, "model \"" + parsed->canonical() +
                                                     "\" not found; `hearth list` shows what "
                                                     "there is, `hearth import` adds a file"}
                         .at("model")};
  }
  for (int looks = 1; !is_trusted_in_use(*named); ++looks) {
    const std::string artifact = named->artifact.id;
    ModelHost* host = host_of(artifact);
    const std::uint64_t look = host == nullptr ? 0 : host->begin_look();
    Result<> checked = co_await recheck(artifact);
    named = find(parsed->key());
    if (named == nullptr) co_return fail(ErrorCode::kNotFound, "the model was removed just now");
    const bool same = named->artifact.id == artifact;
    // Another look at the same files came first and gave them a new id, which is looked at next.
    if (!checked && !same && looks < kMostLooks) continue;
    if (!checked) co_return Failed{std::move(checked).error()};
    host = same ? host_of(artifact) : nullptr;
    if (host != nullptr) host->end_look(look);
    break;
  }
  co_return &model_for(*named);
}

// Whether a worker has the model's files open, and would be told of a write to them.
bool FrontService::is_trusted_in_use(const NamedModel& named) const {
  if (!config_.switches.artifact || named.artifact.status == ArtifactStatus::kRotten) return false;
  ModelHost* host = host_of(named.artifact.id);
  return host != nullptr && host->level() == WeightsLevel::kResident && host->files_trusted();
}

// Looks at the files before anything is loaded from them. A model that changed is another artifact:
// the host of the old one goes.
Task<Result<>> FrontService::recheck(std::string artifact) {
  auto job = [this, artifact] { return catalogue_.recheck(artifact); };
  Result<Artifact> now = co_await catalogue_pool_.run(world_.loop, std::move(job));
  if (!now && now.error().code() == ErrorCode::kNotFound) {
    // Whoever replaced it may not have listed the catalogue yet.
    if (auto refreshed = co_await refresh_catalogue(); !refreshed) co_return refreshed;
  }
  if (!now) co_return Failed{std::move(now).error()};
  const auto known = std::find_if(named_.begin(), named_.end(), [&](const NamedModel& named) {
    return named.artifact.id == artifact;
  });
  const bool same = known != named_.end() && now->id == artifact &&
                    now->status == known->artifact.status &&
                    now->reason == known->artifact.reason && now->facts == known->artifact.facts;
  if (!same) {
    if (now->id != artifact) {
      habits_.rename(artifact, now->id);
      warmth_->rename(artifact, now->id);
    }
    if (auto refreshed = co_await refresh_catalogue(); !refreshed) co_return refreshed;
    if (now->id != artifact) {
      changed_files_.insert(now->id);
      world_.loop.spawn(retire(artifact));
    }
  }
  if (now->status == ArtifactStatus::kMissing) {
    co_return fail(ErrorCode::kNotFound, "the model's file is missing");
  }
  if (now->status == ArtifactStatus::kAbsent) {
    co_return fail(ErrorCode::kNotFound,
                   "the model's files are not here; `hearth warm MODEL --layer artifact` fetches "
                   "them again, and so does the next request");
  }
  if (now->status == ArtifactStatus::kBroken) {
    co_return fail(ErrorCode::kCorrupt, "the model's file is broken: " + now->reason);
  }
  if (now->status == ArtifactStatus::kRotten) {
    const NamedModel* holder = holder_of(now->id);
    co_return fail(ErrorCode::kCorrupt,
                   holder == nullptr ? "the model's file has rotted" : refusal_of_rot(*holder));
  }
  co_return Result<>{};
}

Task<Result<>> FrontService::refresh_catalogue() {
  auto job = [this] { return catalogue_.list(); };
  Result<std::vector<NamedModel>> listed =
      co_await catalogue_pool_.run(world_.loop, std::move(job));
  if (!listed) co_return Failed{std::move(listed).error()};
  named_ = std::move(*listed);
  layers_.artifact().update(named_);
  apply_terms();
  warmth_->set(warmth_terms());
  sync_pins();
  events_.publish("model", models_changed_json(named_));
  co_return Result<>{};
}

}  // namespace hearth::front
