// SPDX-License-Identifier: Apache-2.0
//
// FrontService's care for files: hashes, verify, prune.
#include <algorithm>
#include <set>
#include <utility>

#include "base/log.h"
#include "front/front_service.h"
#include "front/pulls/install.h"
#include "front/verify/prune.h"

namespace hearth::front {
namespace {

// The artifacts that any of these files belongs to, by id.
std::set<std::string> users_of(const std::vector<NamedModel>& models, const Artifact& artifact,
                               const std::vector<ModelCheck::BadParts>& rotten) {
  std::set<std::string> users{artifact.id};
  for (const NamedModel& other : models) {
    for (const Artifact::Shard* file : other.artifact.files()) {
      const bool is_rotten = std::ranges::any_of(rotten, [&](const ModelCheck::BadParts& parts) {
        return artifact.files()[parts.file]->path == file->path;
      });
      if (is_rotten) users.insert(other.artifact.id);
    }
  }
  return users;
}

}  // namespace

Verifier::World FrontService::verifier_world() {
  ModelCheck::World check{world_.loop,
                          hash_pool_,
                          hash_notes_,
                          world_.files,
                          blobs_,
                          [this]() -> const std::vector<NamedModel>& { return named_; },
                          [this](std::string artifact) {
                            layers_.pages().note_read_past(artifact);  // comes right after it
                            return recheck(std::move(artifact));
                          },
                          [this](std::string artifact, std::vector<std::string> sha256) {
                            return note_hashed(std::move(artifact), std::move(sha256));
                          }};
  return Verifier::World{
      std::move(check),
      world_.clock,
      metrics_,
      [this] { return requests_.inside() > 0; },
      [this] { return static_cast<int>(config_.verify_days); },
      [this](NamedModel model, ModelCheck::Checked checked, std::shared_ptr<VerifyRun> run) {
        return repair(std::move(model), std::move(checked), std::move(run));
      }};
}

Task<Result<ArtifactStatus>> FrontService::note_hashed(std::string artifact,
                                                       std::vector<std::string> sha256) {
  auto job = [this, artifact, sha256] { return catalogue_.note_hashed(artifact, sha256); };
  const Result<ArtifactStatus> status = co_await catalogue_pool_.run(world_.loop, std::move(job));
  if (!status) co_return status;
  Result<> refreshed = co_await refresh_catalogue();
  if (!refreshed) co_return Failed{std::move(refreshed).error()};
  co_return status;
}

std::unique_ptr<Transfer> FrontService::verify(VerifyRequest request) {
  if (const Result<ModelStatus> known = model(request.model); known) request.model = known->name;
  return verifier_.verify(std::move(request));
}

// ---- repair ----

Result<> FrontService::check_fetchable(const NamedModel& model) const {
  const Result<FetchPlan> plan = plan_again(model);
  if (!plan) return Failed{plan.error()};
  const PullRules rules = pull_rules(config_);
  const Result<ModelSource> source = parse_source(plan->source, rules.servers);
  if (!source) return Failed{source.error()};
  return rules.check(*source);
}

// Rotten files become downloads of which most is there. A time of its own tells them from what they
// were, even where it was the page cache alone that had gone bad.
Result<> FrontService::open_repairs(const NamedModel& model,
                                    const std::vector<ModelCheck::BadParts>& rotten) const {
  for (const ModelCheck::BadParts& parts : rotten) {
    const hearth::Origin::File& file = model.artifact.origin.files[parts.file];
    const PartialAbout about{model.artifact.origin.source, file.name, file.url, file.sha256,
                             file.size};
    const Result<BlobStore::OpenPartial> partial = blobs_.open_repair(about);
    if (!partial) return Failed{partial.error()};
    (void)world_.files.set_modified(partial->data, world_.clock.wall_us() * 1000);
  }
  return {};
}

Task<Result<Bytes>> FrontService::repair(NamedModel model, ModelCheck::Checked checked,
                                         std::shared_ptr<VerifyRun> run) {
  if (Result<> fetchable = check_fetchable(model); !fetchable) {
    co_return Failed{std::move(fetchable).error()};
  }
  // The file itself is written to: nobody may have it mapped, under whichever name.
  const std::set<std::string> users = users_of(named_, model.artifact, checked.rotten);
  for (const std::string& user : users) co_await retire(user);
  auto move = [this, model, rotten = checked.rotten, users] {
    Result<> moved = open_repairs(model, rotten);
    // A part of them may have been moved.
    for (const std::string& user : users) (void)catalogue_.recheck(user);
    if (moved) moved = catalogue_.note_absent(model.artifact.id);
    return moved;
  };
  const Result<> done = co_await catalogue_pool_.run(world_.loop, std::move(move));
  const Result<> refreshed = co_await refresh_catalogue();
  if (!done) co_return Failed{done.error()};
  if (!refreshed) co_return Failed{refreshed.error()};
  // Whoever came until the listing said so.
  for (const std::string& user : users) co_await retire(user);
  Result<Bytes> fetched = co_await fetch_bad(model, run);
  for (const std::string& user : users) {
    if (user != model.artifact.id) (void)co_await recheck(user);
  }
  co_return fetched;
}

Task<Result<Bytes>> FrontService::fetch_bad(NamedModel model, std::shared_ptr<VerifyRun> run) {
  std::unique_ptr<PullWaiter> pull = fetch_again(model);
  for (;;) {
    TransferEvent event = co_await pull->next();
    if (auto* failed = std::get_if<Error>(&event)) co_return Failed{std::move(*failed)};
    if (const auto* end = std::get_if<TransferDone>(&event)) {
      co_return Bytes{static_cast<std::uint64_t>(end->received)};
    }
    if (auto* progress = std::get_if<TransferProgress>(&event)) {
      progress->model = model.name;
      run->progress(std::move(*progress));
    }
    const bool go_on = co_await run->may_go_on();
    if (!go_on) co_return fail(ErrorCode::kCancelled, "the repair was put off");
  }
}

// ---- prune ----

// Of models that are listed but not here: what there is of them may be nearly all, and after a
// repair that failed, all that there ever will be.
std::set<std::string> FrontService::awaited_sources() const {
  std::set<std::string> sources;
  for (const NamedModel& named : named_) {
    if (named.artifact.status == ArtifactStatus::kAbsent) {
      sources.insert(named.artifact.origin.source);
    }
  }
  return sources;
}

Task<Result<std::vector<Prunable>>> FrontService::prune(Prune what) {
  const auto pass = tasks_.enter();
  if (!pass) co_return fail(ErrorCode::kUnavailable, "the server is stopping");
  const PruneWorld world{world_.files, blobs_, hash_notes_, world_.clock.wall_us()};
  auto look = [world, under_way = pulls_.keys_under_way()] {
    return prunable_parts(world, under_way);
  };
  Result<std::vector<Prunable>> found = co_await disk_pool_.run(world_.loop, std::move(look));
  if (!found) co_return found;
  const std::set<std::string> awaited = awaited_sources();
  std::erase_if(*found, [&](const Prunable& parts) { return awaited.contains(parts.what); });
  if (what == Prune::kDelete && !found->empty()) {
    const std::chrono::seconds any_age{0};
    co_await pulls_.drop_older_than(any_age, awaited);
  }
  auto job = [this, world, what] { return prune_store(world, catalogue_, what); };
  Result<std::vector<Prunable>> rest = co_await catalogue_pool_.run(world_.loop, std::move(job));
  if (!rest) co_return rest;
  found->insert(found->end(), rest->begin(), rest->end());
  if (what == Prune::kDelete) log::info("prune.done", {{"deleted", found->size()}});
  co_return found;
}

}  // namespace hearth::front
