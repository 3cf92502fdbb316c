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
  keys_ = keys_.with({key->info, digest_of(key->secret)});
  log::info("key.added", {{"id", key->info.id}, {"name", key->info.name}, {"role", name_of(role)}});
  co_return key;
}

Task<Result<>> FrontService::remove_key(std::string id_or_name) {
  const auto pass = tasks_.enter();
  if (!pass) co_return fail(ErrorCode::kUnavailable, "the server is stopping");
  auto job = [this, id_or_name] { return key_store_->remove(id_or_name); };
  Result<KeyInfo> removed = co_await key_pool_.run(world_.loop, std::move(job));
  if (!removed) co_return Failed{std::move(removed).error()};
  keys_ = keys_.without(removed->id);
  log::info("key.removed", {{"id", removed->id}, {"name", removed->name}});
  warn_when_open();
  co_return Result<>{};
}

void FrontService::warn_when_open() const {
  const Result<ListenAddress> address = parse_listen(config_.listen);
  if (!address || address->is_loopback() || !keys_.empty()) return;
  log::warn("server.open_to_the_network", {{"address", config_.listen},
                                           {"means", "whoever reaches it may do everything"},
                                           {"remedy", "hearth keys add NAME --role admin"}});
}

}  // namespace hearth::front
