// SPDX-License-Identifier: Apache-2.0
//
// FrontService ahead of its requests: when models are asked for, and what is read before they are.
#include <algorithm>
#include <set>
#include <utility>

#include "front/front_service.h"

namespace hearth::front {
namespace {

// Until a measurement says better.
constexpr double kGuessedRate = 0.5e9;

Bytes need_of(const wire::MemoryUse& use) {
  return use.weights + use.mapped + use.context + use.compute;
}

}  // namespace

PrewarmRules FrontService::prewarm_rules() const {
  PrewarmRules rules;
  rules.bytes_a_day = Bytes{static_cast<std::uint64_t>(config_.prewarm_daily_gib) << 30};
  return rules;
}

PrewarmRunner::World FrontService::prewarm_world() {
  PrewarmRunner::World world{
      world_.loop,
      habits_,
      [this] { return prewarm_signs(); },
      [this] { return prewarm_candidates(); },
      [this] { return levels_->free(); },
      [this] { return layers_.pages().read_rate().value_or(kGuessedRate); },
      [this](std::string artifact, Bytes bytes, std::shared_ptr<SharedProgress> progress) {
        return warm_ahead(std::move(artifact), bytes, std::move(progress));
      },
      [this](std::string artifact, Bytes) { return give_up(std::move(artifact)); }};
  world.name = [this](const std::string& artifact) {
    const NamedModel* named = holder_of(artifact);
    return named == nullptr ? artifact : named->name;
  };
  return world;
}

PrewarmSigns FrontService::prewarm_signs() const {
  PrewarmSigns signs;
  signs.enabled = config_.prewarm;
  signs.layers_on = config_.switches.pages && config_.switches.weights;
  for (const auto& [artifact, model] : models_) {
    if (!model) continue;
    signs.requests += model->requests();
    const ModelHost& host = model->host();
    const bool loading = host.level() == WeightsLevel::kLoading;
    signs.loading = signs.loading || (loading && host.load_for() != LoadFor::kNobody);
  }
  signs.given_way = !protected_->may_prewarm();
  if (levels_->pressed_at()) signs.since_pressure = world_.loop.now() - *levels_->pressed_at();
  return signs;
}

std::vector<PrewarmCandidate> FrontService::prewarm_candidates() const {
  std::vector<PrewarmCandidate> all;
  for (const auto& [artifact, model] : models_) {
    if (!model) continue;
    if (auto one = candidate(*model)) all.push_back(std::move(*one));
  }
  return all;
}

std::optional<PrewarmCandidate> FrontService::candidate(const Model& model) const {
  const std::string& artifact = model.named().artifact.id;
  const PageSnapshot* pages = layers_.pages().snapshot(artifact);
  const ModelHost& host = model.host();
  if (pages == nullptr || !load_set_of(artifact)) return std::nullopt;
  PrewarmCandidate one;
  one.model = artifact;
  one.size = pages->residency.total;
  if (host.ready()) one.size = std::max(one.size, need_of(host.ready()->estimate));
  const bool resident = host.level() == WeightsLevel::kResident;
  one.resident = resident ? one.size : std::min(one.size, pages->residency.resident);
  const bool held = pin_of(artifact, "weights") != nullptr ||
                    pin_of(artifact, "pages") != nullptr ||
                    warmth_->floor_reason(artifact, HoldingKind::kWeights) != FloorReason::kNone;
  if (held) one.floor = one.resident;
  one.cold = model.starts().cold_time(model.named().artifact);
  one.busy = host.is_busy() || host.level() == WeightsLevel::kLoading ||
             host.level() == WeightsLevel::kUnloading || !host.has_served_its_turn();
  return one;
}

// Pages first; weights once all of them are there.
Task<Result<Bytes>> FrontService::warm_ahead(std::string artifact, Bytes bytes,
                                             std::shared_ptr<SharedProgress> progress) {
  const auto found = models_.find(artifact);
  if (found == models_.end() || !found->second) co_return fail(ErrorCode::kNotFound, "it went");
  Subject subject = found->second->subject();
  const PageSnapshot* before = layers_.pages().snapshot(artifact);
  Bytes read;
  if (before == nullptr || before->residency.missing() > Bytes{}) {
    const PagesLayer::Ahead ahead{bytes, ahead_pool_, *progress};
    Result<Bytes> got = co_await layers_.pages().read_ahead(std::move(subject), ahead);
    if (!got) co_return got;
    read = *got;
  }
  const PageSnapshot* now = layers_.pages().snapshot(artifact);
  ModelHost* host = host_of(artifact);
  const bool all_there = now != nullptr && now->residency.missing() == Bytes{};
  if (!all_there || host == nullptr || progress->cancelled()) co_return read;
  MoveRecord record;
  record.model = host->model().name;
  record.layer = "weights";
  record.from = name_of(host->level());
  record.to = "resident";
  record.cause = "prewarm";
  const TimePoint begun = world_.loop.now();
  const Result<> loaded = co_await host->ensure_resident(&stopping_, LoadFor::kNobody);
  if (!loaded) record.error = loaded.error().message();
  record.time = world_.loop.now() - begun;
  record.bytes = host_levels_->held_by_load(artifact);
  levels_->note(std::move(record));
  if (!loaded) co_return Failed{loaded.error()};
  // Nothing may have been read for it, but it was no failure.
  co_return std::max(read, Bytes{1});
}

Task<Result<>> FrontService::give_up(std::string artifact) {
  Move move{Move::What::kWeights, std::move(artifact), {}};
  Result<Bytes> given = co_await levels_->give_up(std::move(move), "prewarm");
  if (!given) co_return Failed{std::move(given).error()};
  co_return Result<>{};
}

void FrontService::note_arrival(const std::string& artifact) { prewarm_->request(artifact); }

// Whoever was asked for before may be again, whether or not this server has been asked for it.
Task<void> FrontService::know_models_with_habits() {
  const auto pass = tasks_.enter();
  if (!pass) co_return;
  std::set<std::string> wanted;
  for (const NamedModel& named : named_) {
    if (habits_.arrivals().find(named.artifact.id) != nullptr) wanted.insert(named.name);
  }
  for (const std::string& name : wanted) {
    std::string asked = name;
    Result<Model*> model = co_await resolve(std::move(asked));
    if (stopping_) break;
    if (!model) continue;
    Subject subject = (*model)->subject();
    (void)co_await layers_.pages().refresh(std::move(subject));
  }
}

}  // namespace hearth::front
