// SPDX-License-Identifier: Apache-2.0
//
// Which hollow workers stay: what ModelHost, Model and FrontService each know of it.
#include <algorithm>
#include <utility>

#include "base/log.h"
#include "front/front_service.h"

namespace hearth::front {

std::optional<HollowWorker> ModelHost::hollow_worker() const {
  if (level_ != WeightsLevel::kHollow || !usable() || !inboxes_.empty()) return std::nullopt;
  HollowWorker worker = held_;
  worker.own = heartbeat_.anonymous + heartbeat_.swapped;
  if (!spawn_stages_.empty()) worker.spawn = spawn_stages_.front().length();
  return worker;
}

Task<void> ModelHost::end_hollow() {
  const auto pass = tasks_.enter();
  if (!pass || !hollow_worker()) co_return;
  worker_->close();
  const std::uint64_t spawn = spawns_;
  while (worker_ && spawns_ == spawn) co_await changed_.wait();
}

std::optional<HollowWorker> Model::hollow_worker() const {
  if (requests_ > 0) return std::nullopt;
  std::optional<HollowWorker> worker = host_.hollow_worker();
  if (!worker) return worker;
  worker->uses_per_hour = uses_per_hour();
  return worker;
}

double Model::uses_per_hour() const {
  const TimePoint now = world_.host.loop.now();
  const Duration idle = now - last_reply_at_.value_or(known_since_);
  const int uses = uses_ + static_cast<int>(loads_learned_);  // whoever loads it means to use it
  return expected_uses_per_hour(uses, now - known_since_, idle);
}

// As many as are to have a worker in any case, the last used first.
std::vector<const NamedModel*> FrontService::last_used() const {
  std::vector<const NamedModel*> used;
  for (const NamedModel& named : named_) {
    if (named.artifact.last_used_at_us > 0) used.push_back(&named);
  }
  std::sort(used.begin(), used.end(), [](const NamedModel* a, const NamedModel* b) {
    return a->artifact.last_used_at_us > b->artifact.last_used_at_us;
  });
  const auto wanted = static_cast<std::size_t>(config_.hollow_workers);
  used.resize(std::min(wanted, used.size()));
  return used;
}

void FrontService::review_hollow_workers() {
  std::set<std::string> kept;
  for (const NamedModel* named : last_used()) kept.insert(named->artifact.id);
  for (const auto& [artifact, model] : models_) {
    const std::optional<HollowWorker> worker = model->hollow_worker();
    if (!worker) continue;
    HollowFate fate = fate_of(*worker, HollowTerms{});
    if (fate == HollowFate::kEnd && kept.contains(artifact)) {
      HollowWorker wanted = *worker;
      wanted.spawn = {};
      fate = fate_of(wanted, HollowTerms{});
    }
    if (fate != HollowFate::kKeep) world_.loop.spawn(end_hollow(artifact, fate));
  }
}

Task<void> FrontService::end_hollow(std::string artifact, HollowFate fate) {
  const auto pass = tasks_.enter();
  ModelHost* host = host_of(artifact);
  if (!pass || host == nullptr || !host->hollow_worker()) co_return;
  const bool replaced = fate == HollowFate::kReplace;
  const std::string why = replaced ? "replaced" : "not_worth_keeping";
  log::info("worker.let_go", {{"model", host->model().name},
                              {"reason", why},
                              {"anonymous", host->heartbeat().anonymous.count()}});
  metrics_.hollow_worker_ended(why);
  co_await host->end_hollow();
  host = host_of(artifact);
  if (replaced && host != nullptr) (void)co_await host->ensure_worker(&stopping_);
}

}  // namespace hearth::front
