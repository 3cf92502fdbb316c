// SPDX-License-Identifier: Apache-2.0
//
// FrontService's eye on other programs' stores and on watched folders.
#include <utility>

#include "front/front_service.h"

namespace hearth::front {

StoreWatch::World FrontService::store_watch_world() {
  return StoreWatch::World{
      world_.loop,
      store_pool_,
      world_.files,
      world_.clock,
      [this] { return store_roots(config_.stores, config_.folders, world_.environment); },
      [this] { return listed_paths(); },
      [this] { return noted_roots(); },
      [this](StoreRoot root, std::vector<FoundModel> models, FoundExtent extent) {
        return note_found(std::move(root), std::move(models), extent);
      }};
}

Task<Result<>> FrontService::rescan() { co_return co_await store_watch_.look_now(); }

Task<Result<std::vector<StoreRoot>>> FrontService::noted_roots() {
  auto job = [this] { return catalogue_.found_roots(); };
  co_return co_await catalogue_pool_.run(world_.loop, std::move(job));
}

Task<Result<FoundReport>> FrontService::note_found(StoreRoot root, std::vector<FoundModel> models,
                                                   FoundExtent extent) {
  auto job = [this, root = std::move(root), models = std::move(models), extent] {
    return catalogue_.note_found(root.store, root.path, models, extent);
  };
  Result<FoundReport> report = co_await catalogue_pool_.run(world_.loop, std::move(job));
  if (!report) co_return report;
  if (auto refreshed = co_await refresh_catalogue(); !refreshed) {
    co_return Failed{std::move(refreshed).error()};
  }
  retire_nameless();
  co_return report;
}

std::set<std::string> FrontService::listed_paths() const {
  std::set<std::string> paths;
  for (const NamedModel& named : named_) {
    for (const Artifact::Shard& shard : named.artifact.shards) paths.insert(shard.path);
    for (const Artifact::Shard& shard : named.artifact.adapters) paths.insert(shard.path);
  }
  return paths;
}

void FrontService::retire_nameless() {
  std::set<std::string> nameless;
  for (const auto& [artifact, model] : models_) nameless.insert(artifact);
  for (const NamedModel& named : named_) nameless.erase(named.artifact.id);
  for (const std::string& artifact : nameless) world_.loop.spawn(retire(artifact));
}

}  // namespace hearth::front
