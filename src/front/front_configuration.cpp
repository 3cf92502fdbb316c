// SPDX-License-Identifier: Apache-2.0
//
// FrontService's configuration.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/log.h"
#include "front/config/describe.h"
#include "front/front_service.h"
#include "front/live_json.h"
#include "timeline/json_writer.h"

namespace hearth::front {
namespace {

std::string list_of(const std::vector<std::string>& names) {
  return boost::json::serialize(boost::json::value_from(names));
}

}  // namespace

std::string FrontService::configuration() const { return config_json(config_); }

Task<Result<std::string>> FrontService::reload_configuration() {
  const auto pass = tasks_.enter();
  if (!pass) co_return fail(ErrorCode::kUnavailable, "the server is stopping");
  if (!world_.load_config) co_return fail(ErrorCode::kUnsupported, "there is nothing to read");
  auto job = world_.load_config;
  Result<Config> next = co_await config_pool_.run(world_.loop, std::move(job));
  if (!next) {
    log::warn("config.not_reloaded", {{"error", next.error().message()}});
    co_return Failed{std::move(next).error()};
  }
  const ConfigChange change = apply(*next);
  co_await reread_modules();
  log::info("config.reloaded", {{"file", config_.file},
                                {"changed", fmt::format("{}", fmt::join(change.changed, ","))}});
  for (const std::string& option : change.needs_restart) {
    log::warn("config.needs_restart", {{"option", option}});
  }
  JsonWriter json;
  json.string("file", config_.file).raw("changed", list_of(change.changed));
  co_return json.raw("needs_restart", list_of(change.needs_restart)).object();
}

ConfigChange FrontService::apply(const Config& next) {
  ConfigChange change = take_over(config_, next);
  log::set_level(config_.level());
  access_ = config_.access();
  apply_terms();
  set_traces();
  if (prefix_) prefix_->configure(config_.prefix_groups, config_.prefix_normalise);
  levels_->set(level_settings());
  protected_->set(config_.protected_services);
  habits_.prewarm().set_rules(prewarm_rules());
  warmth_->set(warmth_terms());
  prewarm_->poke();
  store_watch_.look_soon();
  events_.publish("model", models_changed_json(named_));
  return change;
}

}  // namespace hearth::front
