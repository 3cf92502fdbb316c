// SPDX-License-Identifier: Apache-2.0
//
// FrontService giving back files that can be fetched again.
#include <utility>

#include "base/log.h"
#include "front/front_service.h"
#include "front/pulls/install.h"

namespace hearth::front {

// By path: whether a model that stays uses it too.
bool FrontService::is_shared(const Artifact::Shard& file, const std::string& artifact) const {
  for (const NamedModel& other : named_) {
    if (other.artifact.id == artifact || other.artifact.status == ArtifactStatus::kAbsent) continue;
    for (const Artifact::Shard* one : other.artifact.files()) {
      if (one->path == file.path) return true;
    }
  }
  return false;
}

Task<Result<CoolPreview>> FrontService::preview_cool(std::string name, std::string layer) {
  const Result<ModelStatus> known = model(name);
  if (!known) co_return Failed{known.error()};
  const NamedModel& named = *find(ModelName::parse(known->name)->key());
  if (layer == name_of(LayerKind::kCompiled)) co_return preview_compiled(named);
  const Result<FetchPlan> plan = plan_again(named);
  if (!plan) co_return Failed{plan.error()};
  CoolPreview preview;
  preview.model = named.name;
  preview.source = plan->source;
  preview.fetch_bytes = static_cast<std::int64_t>(plan->size().count());
  for (const NamedModel& other : named_) {
    if (other.artifact.id == named.artifact.id && other.name != named.name) {
      preview.also.push_back(other.name);
    }
  }
  if (named.artifact.status == ArtifactStatus::kAbsent) co_return preview;
  for (const Artifact::Shard* file : named.artifact.files()) {
    if (is_shared(*file, named.artifact.id)) continue;
    preview.files.push_back(file->path);
    preview.freed_bytes += static_cast<std::int64_t>(file->file.size.count());
  }
  co_return preview;
}

// The files may be given back between the look for them and their use: then they are fetched.
Task<Result<Model*>> FrontService::bring_model(std::shared_ptr<RequestRun> run, std::string name) {
  for (int tries = 2;; --tries) {
    Result<> here = co_await bring_files(run, name);
    if (!here) co_return Failed{std::move(here).error()};
    Result<Model*> model = co_await resolve(name);
    if (model || tries == 1) co_return model;
    const Result<ModelName> parsed = ModelName::parse(name);
    const NamedModel* named = parsed ? find(parsed->key()) : nullptr;
    const bool absent = named != nullptr && named->artifact.status == ArtifactStatus::kAbsent;
    if (!absent) co_return model;
  }
}

// The names say so first: who comes now fetches, and whoever is in the worker ends before the files
// go.
Task<Result<ModelStatus>> FrontService::cool_artifact(std::string name) {
  const auto pass = tasks_.enter();
  if (!pass) co_return fail(ErrorCode::kUnavailable, "the server is stopping");
  std::string layer{name_of(LayerKind::kArtifact)};
  const Result<CoolPreview> preview = co_await preview_cool(name, std::move(layer));
  if (!preview) co_return Failed{preview.error()};
  const NamedModel* named = find(ModelName::parse(preview->model)->key());
  if (named == nullptr || named->artifact.status == ArtifactStatus::kAbsent) co_return model(name);
  if (!named->pins.empty()) {
    co_return fail(ErrorCode::kConflict, "\"" + named->name + "\" is pinned; `hearth unpin " +
                                             named->name + "` lets it go");
  }
  const std::string artifact = named->artifact.id;
  std::vector<std::string> paths = preview->files;
  auto job = [this, artifact] { return catalogue_.note_absent(artifact); };
  Result<> noted = co_await catalogue_pool_.run(world_.loop, std::move(job));
  if (noted) noted = co_await refresh_catalogue();
  if (!noted) co_return Failed{std::move(noted).error()};
  log::info("model.given_back", {{"model", preview->model}, {"bytes", preview->freed_bytes}});
  co_await retire(artifact);
  co_await drop_files(std::move(paths));
  co_return model(name);
}

}  // namespace hearth::front
