// SPDX-License-Identifier: Apache-2.0
//
// FrontService and the services that come first: what it gives up for them.
#include <algorithm>
#include <thread>
#include <utility>

#include "base/log.h"
#include "front/front_service.h"
#include "front/protected/http_probe.h"

namespace hearth::front {

ProtectedServices::World FrontService::protected_world() {
  const auto cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const auto most = static_cast<int>(config_.threads);
  ProtectedServices::World world{.loop = world_.loop,
                                 .pool = services_pool_,
                                 .roots = {},
                                 .make_probe = http_probes(world_.loop),
                                 .clock = world_.clock,
                                 .threads = most > 0 ? std::min(most, cores) : cores,
                                 .busy = [this] { return computes(); }};
  world.on_change = [this] { share_with_services(); };
  return world;
}

// Evaluates, loads or reads something, or has since this was asked last.
bool FrontService::computes() {
  if (std::exchange(has_computed_, false)) return true;
  if (prewarm_ && prewarm_->reading()) return true;
  return std::ranges::any_of(models_, [](const auto& entry) {
    if (!entry.second) return false;
    const ModelHost& host = entry.second->host();
    return host.attached() > 0 || host.level() == WeightsLevel::kLoading;
  });
}

void FrontService::share_with_services() {
  const wire::GiveWayMessage share = protected_->give_way();
  for (const auto& [artifact, model] : models_) {
    if (model) model->host().give_way(share);
  }
  if (const std::string reason = protected_->reason(); !reason.empty()) {
    log::info("services.given_way", {{"reason", reason},
                                     {"threads", share.threads},
                                     {"percent", share.percent},
                                     {"memory", protected_->wants_memory()}});
  }
  sync_pins();
  prewarm_->poke();
  warmth_->look_again();
  events_.publish("services", R"({"protected":)" + protected_->json() + "}");
}

}  // namespace hearth::front
