// SPDX-License-Identifier: Apache-2.0
//
// FrontService's keys.
#include "base/log.h"
#include "front/front_service.h"

namespace hearth::front {

Task<Result<NewKey>> FrontService::add_key(std::string name, Role role) {
  const auto pass = tasks_.enter();
  if (!pass) co_return fail(ErrorCode::kUnavailable, "the server is stopping");
  auto job = [this, name = std::move(name), role] { return key_store_->add(name, role); };
  Result<NewKey> key = co_await key_pool_.run(world_.loop, std::move(job));
  if (!key) co_return key;
  log::info("key.added", {{"id", key->info.id}, {"name", key->info.name}, {"role", name_of(role)}});
  const Result<> refreshed = co_await refresh_keys();
  if (!refreshed) co_return Failed{refreshed.error()};
  co_return key;
}

Task<Result<>> FrontService::remove_key(std::string id_or_name) {
  const auto pass = tasks_.enter();
  if (!pass) co_return fail(ErrorCode::kUnavailable, "the server is stopping");
  auto job = [this, id_or_name] { return key_store_->remove(id_or_name); };
  Result<> removed = co_await key_pool_.run(world_.loop, std::move(job));
  if (!removed) co_return removed;
  log::info("key.removed", {{"key", id_or_name}});
  co_return co_await refresh_keys();
}

Task<Result<>> FrontService::refresh_keys() {
  auto job = [this] { return key_store_->list(); };
  Result<std::vector<KeyRing::Kept>> kept = co_await key_pool_.run(world_.loop, std::move(job));
  if (!kept) co_return Failed{std::move(kept).error()};
  keys_ = KeyRing{std::move(*kept)};
  co_return Result<>{};
}

}  // namespace hearth::front
