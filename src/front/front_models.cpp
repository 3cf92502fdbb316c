// SPDX-License-Identifier: Apache-2.0
//
// FrontService's verbs on models: lists, import and removal, load and unload, warm and cool.
#include <algorithm>
#include <utility>

#include "base/log.h"
#include "front/front_service.h"
#include "front/model_status.h"

namespace hearth::front {
namespace {

Result<LayerKind> kind_of(const std::string& layer) {
  if (const std::optional<LayerKind> kind = layer_named(layer)) return *kind;
  return Failed{Error{ErrorCode::kInvalid, "there is no layer \"" + layer +
                                               "\"; there are artifact, pages, weights, compiled "
                                               "and prefix"}
                    .at("layer")};
}

// A file of another format is no gap of this server: whoever named it can do something about it.
Error import_refusal(Error error) {
  if (error.code() != ErrorCode::kUnsupported) return error;
  return Error{ErrorCode::kInvalid, error.message()}.at("path");
}

}  // namespace

std::vector<ModelStatus> FrontService::models() const {
  std::vector<ModelStatus> all;
  all.reserve(named_.size());
  for (const NamedModel& named : named_) all.push_back(status_of(named));
  return all;
}

ModelStatus FrontService::status_of(const NamedModel& named) const {
  const auto found = models_.find(named.artifact.id);
  const Model* model = found == models_.end() ? nullptr : found->second.get();
  ModelStatus status = model_status(named, model, world_.loop.now());
  const bool usable = named.artifact.status == ArtifactStatus::kOk ||
                      named.artifact.status == ArtifactStatus::kChanged;
  if (usable && status.status == "ok") {
    const Predictor& predictor = rate_notes_.predictor();
    const std::string& id = named.artifact.id;
    const Outlook outlook = model == nullptr
                                ? predictor.outlook(id, untouched_state(named.artifact))
                                : model->outlook();
    status.predicted_ttft = predicted_ttft(outlook, predictor.errors(id));
  }
  if (model == nullptr) {
    const bool pinned = pin_of(named.artifact.id, "weights") != nullptr;
    const StayTerms terms =
        pinned ? StayTerms{KeepAlive::until_wanted(), "pin"} : default_terms(named.artifact.id);
    status.keep_alive = terms.keep_alive;
    status.keep_alive_source = terms.source;
  }
  for (const Pin& pin : named.pins) {
    if (in_force(pin)) status.pinned.push_back(pin.layer);
  }
  if (named.artifact.status == ArtifactStatus::kAbsent) add_share(status, named);
  status.aliases = aliases_of(named);
  status.shared_bytes = static_cast<std::int64_t>(shared_with_others(named, named_).count());
  return status;
}

Result<ModelStatus> FrontService::model(const std::string& name) const {
  Result<ModelName> parsed = ModelName::parse(name);
  if (!parsed) return Failed{std::move(parsed).error().at("model")};
  const NamedModel* named = find(parsed->key());
  if (named == nullptr) {
    return Failed{
        Error{ErrorCode::kNotFound, "model \"" + parsed->canonical() + "\" not found"}.at("model")};
  }
  return status_of(*named);
}

Task<Result<ModelStatus>> FrontService::import_model(std::string path, std::string name) {
  Result<ModelName> parsed = name.empty() ? ModelName::from_path(path) : ModelName::parse(name);
  if (!parsed) co_return Failed{std::move(parsed).error().at("name")};
  const ModelName model_name = *parsed;
  auto job = [this, path, model_name] { return catalogue_.import(path, model_name); };
  Result<NamedModel> imported = co_await catalogue_pool_.run(world_.loop, std::move(job));
  if (!imported) co_return Failed{import_refusal(std::move(imported).error())};
  log::info("model.imported", {{"model", imported->name}});
  if (auto refreshed = co_await refresh_catalogue(); !refreshed) {
    co_return Failed{std::move(refreshed).error()};
  }
  co_return model(imported->name);
}

Task<Result<>> FrontService::remove_model(std::string name) {
  Result<ModelName> parsed = ModelName::parse(name);
  if (!parsed) co_return Failed{std::move(parsed).error().at("model")};
  const ModelName model_name = *parsed;
  if (auto removable = check_removable(model_name); !removable) co_return removable;
  const NamedModel* named = find(model_name.key());
  const std::string artifact = named == nullptr ? std::string{} : named->artifact.id;
  const std::string named_as = named == nullptr ? model_name.canonical() : named->name;
  std::vector<std::string> files;
  if (named != nullptr && named->artifact.store == Store::kHearth) {
    for (const Artifact::Shard* file : named->artifact.files()) files.push_back(file->path);
  }
  auto job = [this, model_name] { return catalogue_.remove_name(model_name); };
  Result<> removed = co_await catalogue_pool_.run(world_.loop, std::move(job));
  if (!removed) co_return Failed{std::move(removed).error().at("model")};
  log::info("model.removed", {{"model", model_name.canonical()}});
  if (auto refreshed = co_await refresh_catalogue(); !refreshed) co_return refreshed;
  const bool named_still = std::any_of(named_.begin(), named_.end(), [&](const NamedModel& other) {
    return other.artifact.id == artifact;
  });
  if (!named_still) co_await retire(artifact);
  if (!named_still && !files.empty()) co_await drop_files(std::move(files));
  metrics_.forget_model(named_as);  // last: requests that drained still count for it
  co_return Result<>{};
}

Task<Result<ModelStatus>> FrontService::unload(std::string name) {
  const Result<ModelStatus> known = model(name);
  if (!known) co_return known;
  // Asked before anybody waits for it, and again when the last reply has ended.
  ModelHost::Check loose = [this, artifact = known->artifact] {
    return check_not_pinned(artifact, "weights");
  };
  if (const Result<> now = loose(); !now) co_return Failed{now.error()};
  const auto found = models_.find(known->artifact);
  if (found != models_.end()) {
    Result<> done = co_await found->second->host().unload(WeightsCause::kAsked, std::move(loose));
    if (!done) co_return Failed{std::move(done).error()};
  }
  co_return model(name);
}

Task<Result<ModelStatus>> FrontService::release(std::string name) {
  const Result<ModelStatus> known = model(name);
  if (!known) co_return known;
  if (const Result<> loose = check_not_pinned(known->artifact, "weights"); !loose) {
    co_return Failed{loose.error()};
  }
  const auto found = models_.find(known->artifact);
  if (found != models_.end()) {
    Model& model = *found->second;
    model.request_arrived(Use::kTokenizer);
    Result<> done = co_await model.release();
    model.request_left(Use::kTokenizer, Stay::Left::kServed);
    if (!done) co_return Failed{std::move(done).error()};
  }
  co_return this->model(name);
}

Task<Result<ModelStatus>> FrontService::warm(std::string name, std::string layer) {
  const Result<LayerKind> kind = kind_of(layer);
  if (!kind) co_return Failed{kind.error()};
  if (*kind == LayerKind::kArtifact) {
    if (Result<> here = co_await bring_files_now(name); !here) co_return Failed{here.error()};
  }
  if (*kind == LayerKind::kPrefix && prefix_) {
    if (Result<> warm = co_await warm_modules(name); !warm) co_return Failed{warm.error()};
  }
  Result<Model*> found = co_await resolve(name);
  if (!found) co_return Failed{std::move(found).error()};
  Model& warming = **found;
  Subject subject = warming.subject();
  Target warmest;
  warming.request_arrived(Use::kTokenizer);
  Result<LayerState> warmed =
      co_await layers_.of(*kind).warm(std::move(subject), std::move(warmest), warm_ups_);
  warming.request_left(Use::kTokenizer, Stay::Left::kServed);
  if (!warmed) co_return Failed{std::move(warmed).error()};
  co_return model(name);
}

Task<Result<ModelStatus>> FrontService::cool(std::string name, std::string layer) {
  const Result<LayerKind> kind = kind_of(layer);
  if (!kind) co_return Failed{kind.error()};
  if (*kind == LayerKind::kWeights) co_return co_await unload(name);
  if (*kind == LayerKind::kArtifact) co_return co_await cool_artifact(name);
  Result<Model*> found = co_await resolve(name);
  if (!found) co_return Failed{std::move(found).error()};
  const Result<ModelStatus> known = model(name);
  if (!known) co_return known;
  if (auto loose = check_not_pinned(known->artifact, layer); !loose) {
    co_return Failed{std::move(loose).error()};
  }
  Subject subject = (*found)->subject();
  Target coldest;
  Result<Bytes> cooled = co_await layers_.of(*kind).cool(std::move(subject), std::move(coldest));
  if (!cooled) co_return Failed{std::move(cooled).error()};
  co_return model(name);
}

}  // namespace hearth::front
