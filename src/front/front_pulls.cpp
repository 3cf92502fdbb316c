// SPDX-License-Identifier: Apache-2.0
//
// FrontService's pulls: fetching models, and what of them goes when others come.
#include <algorithm>
#include <set>
#include <utility>

#include "base/log.h"
#include "front/front_service.h"
#include "front/pulls/install.h"
#include "front/worker_environment.h"
#include "layers/artifact/blob_name.h"

namespace hearth::front {
namespace {

constexpr std::int64_t kNsPerUs = 1000;

using OwnFiles = std::map<std::string, std::vector<std::string>>;  // by artifact id

std::vector<std::string> paths_of(const Artifact& artifact) {
  std::vector<std::string> paths;
  for (const Artifact::Shard* file : artifact.files()) paths.push_back(file->path);
  return paths;
}

OwnFiles own_files(const std::vector<NamedModel>& models) {
  OwnFiles files;
  for (const NamedModel& model : models) files[model.artifact.id] = paths_of(model.artifact);
  return files;
}

// Rotten, until it is written to; or no model any more, which no file of our own store ever was.
bool is_known_bad(const std::vector<NamedModel>& models, const BlobStore::Blob& blob) {
  for (const NamedModel& model : models) {
    for (const Artifact::Shard* file : model.artifact.files()) {
      if (digest_in_blob_name(file->path) != blob.sha256) continue;
      const bool is_same =
          file->file.size == blob.size && file->file.modified_ns / kNsPerUs == blob.modified_us;
      if (is_same && !file->rotten_sha256.empty()) return true;
      const bool is_ours = model.artifact.store == Store::kHearth;
      if (is_ours && model.artifact.status == ArtifactStatus::kBroken) return true;
    }
  }
  return false;
}

LayerSnapshot files_before(Pulls::Share share, Bytes size) {
  LayerSnapshot before;
  before.layer = "artifact";
  before.bytes = share.done;
  before.total = std::max(share.total, size);
  const bool partial = share.done > Bytes{} && before.total > Bytes{};
  before.level = partial ? "partial" : "absent";
  if (partial) {
    before.fraction = std::min(
        1.0, static_cast<double>(before.bytes.count()) / static_cast<double>(before.total.count()));
  }
  return before;
}

}  // namespace

Pulls::World FrontService::pulls_world() {
  const Fetcher::World fetcher{world_.loop, process_pool_, world_.processes, world_.fetcher_program,
                               fetcher_environment(world_.environment)};
  Pull::World pull{world_.loop,
                   disk_pool_,
                   world_.files,
                   blobs_,
                   fetcher,
                   [this] { return pull_rules(config_); },
                   [this] { return hugging_face_token(world_.environment); },
                   [this](const std::string& url) { return fetched_from(url); },
                   [this](PulledModel model) { return install(std::move(model)); },
                   [this](const BlobStore::Blob& blob) { return is_known_bad(named_, blob); }};
  const bool keeps = config_.switches.artifact;
  return {std::move(pull), world_.clock, events_,
          keeps ? Pulls::PausedParts::kKept : Pulls::PausedParts::kDropped};
}

std::optional<hearth::Origin::File> FrontService::fetched_from(const std::string& url) const {
  for (const NamedModel& named : named_) {
    if (named.artifact.store != Store::kHearth) continue;
    for (const hearth::Origin::File& file : named.artifact.origin.files) {
      if (file.url == url) return file;
    }
  }
  return std::nullopt;
}

std::unique_ptr<Transfer> FrontService::pull(PullRequest request) {
  std::string name;
  if (!request.name.empty()) {
    Result<ModelName> parsed = ModelName::parse(request.name);
    if (!parsed) return pulls_.refused(std::move(parsed).error().at("name"));
    name = parsed->canonical();
  }
  const PullRules rules = pull_rules(config_);
  const SourceScheme scheme = request.insecure ? SourceScheme::kHttp : SourceScheme::kHttps;
  Result<ModelSource> source = parse_source(request.source, rules.servers, scheme);
  if (!source) return pulls_.refused(std::move(source).error().at("source"));
  if (Result<> allowed = rules.check(*source); !allowed) {
    return pulls_.refused(std::move(allowed).error());
  }
  return pulls_.join(*source, std::move(name), std::nullopt);
}

std::vector<PullStatus> FrontService::pulls() const { return pulls_.statuses(); }

Task<Result<>> FrontService::stop_pull(std::string name, Parts parts) {
  return pulls_.stop_pull(std::move(name), parts);
}

// ---- into the catalogue ----

Task<Result<>> FrontService::install(PulledModel model) {
  const OwnFiles before = own_files(named_);
  auto job = [this, model = std::move(model)]() mutable {
    return install_pulled(catalogue_, blobs_, std::move(model));
  };
  Result<> installed = co_await catalogue_pool_.run(world_.loop, std::move(job));
  if (!installed) co_return installed;
  Result<> refreshed = co_await refresh_catalogue();
  if (!refreshed) co_return refreshed;
  const OwnFiles now = own_files(named_);
  for (const auto& [artifact, paths] : before) {
    if (!now.contains(artifact)) world_.loop.spawn(replace(artifact, paths));
  }
  co_return Result<>{};
}

// A model that no name stands for any more: its requests end, then its files go.
Task<void> FrontService::replace(std::string artifact, std::vector<std::string> paths) {
  const auto pass = tasks_.enter();
  if (!pass) co_return;
  co_await retire(artifact);
  co_await drop_files(std::move(paths));
}

Task<void> FrontService::drop_files(std::vector<std::string> paths) {
  auto job = [this, paths = std::move(paths)] { return drop_unused(catalogue_, blobs_, paths); };
  const Result<Bytes> freed = co_await catalogue_pool_.run(world_.loop, std::move(job));
  if (!freed) log::warn("store.files_not_deleted", {{"error", freed.error().message()}});
  if (freed && *freed > Bytes{}) log::info("store.files_deleted", {{"bytes", freed->count()}});
}

// ---- for who needs the files ----

// The pull that would bring what this name stands for, where it is not here. `pull` is null where
// there is nothing to wait for.
FrontService::Missing FrontService::missing_files(const std::string& name) {
  const Result<ModelName> parsed = ModelName::parse(name);
  if (!parsed) return {};
  const NamedModel* named = find(parsed->key());
  const Bytes size = named == nullptr ? Bytes{} : named->artifact.size();
  const std::string& key = named == nullptr ? parsed->key() : named->key;
  const bool usable = named != nullptr && (named->artifact.status == ArtifactStatus::kOk ||
                                           named->artifact.status == ArtifactStatus::kChanged);
  if (usable) return {};
  if (const Pull* pull = pulls_.under_way_as(key)) {
    LayerSnapshot before = files_before(pulls_.share(pull->source().text), size);
    const std::string wanted = named == nullptr ? parsed->canonical() : named->name;
    return {pulls_.join(pull->source(), wanted, std::nullopt), std::move(before)};
  }
  if (named == nullptr || named->artifact.status != ArtifactStatus::kAbsent) return {};
  LayerSnapshot before = files_before(pulls_.share(named->artifact.origin.source), size);
  return {fetch_again(*named), std::move(before)};
}

std::unique_ptr<PullWaiter> FrontService::fetch_again(const NamedModel& named) {
  Result<FetchPlan> plan = plan_again(named);
  if (!plan) return pulls_.refused(std::move(plan).error());
  const PullRules rules = pull_rules(config_);
  Result<ModelSource> source = parse_source(plan->source, rules.servers);
  if (!source) return pulls_.refused(std::move(source).error());
  if (Result<> allowed = rules.check(*source); !allowed) {
    return pulls_.refused(std::move(allowed).error());
  }
  return pulls_.join(*source, named.name, std::move(*plan));
}

// Of an absent model: what parts of it are here again.
void FrontService::add_share(ModelStatus& status, const NamedModel& named) const {
  const Pulls::Share share = pulls_.share(named.artifact.origin.source);
  const LayerSnapshot before = files_before(share, named.artifact.size());
  for (LayerStatus& layer : status.layers) {
    if (layer.layer != "artifact") continue;
    layer.level = before.level;
    layer.fraction = before.fraction;
    layer.bytes = static_cast<std::int64_t>(before.bytes.count());
    layer.total = static_cast<std::int64_t>(before.total.count());
  }
}

// What a request waits for before it is served: nothing, mostly.
Task<Result<>> FrontService::bring_files(std::shared_ptr<RequestRun> run, std::string name) {
  Missing missing = missing_files(name);
  if (!missing.pull) co_return Result<>{};
  LayerSnapshot before = std::move(missing.before);
  const Result<TransferDone> done =
      co_await RequestRun::await_files(run, *missing.pull, std::move(before));
  run->note_fetched(missing.pull->stages(),
                    Bytes{done ? static_cast<std::uint64_t>(done->received) : 0});
  if (done) co_return Result<>{};
  Error error = done.error();
  // It is not the request that is wrong.
  if (error.code() == ErrorCode::kInvalid) error = {ErrorCode::kUnavailable, error.message()};
  if (error.code() != ErrorCode::kCancelled) error = std::move(error).during("fetch the model");
  co_return Failed{std::move(error)};
}

Task<Result<>> FrontService::bring_files_now(std::string name) {
  Missing missing = missing_files(name);
  while (missing.pull) {
    TransferEvent event = co_await missing.pull->next();
    if (std::holds_alternative<TransferDone>(event)) break;
    if (auto* failed = std::get_if<Error>(&event)) co_return Failed{std::move(*failed)};
  }
  co_return Result<>{};
}

}  // namespace hearth::front
