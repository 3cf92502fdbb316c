// SPDX-License-Identifier: Apache-2.0
//
// FrontService's memory: who holds it, who waits for it, and who gives it up.
#include <fmt/format.h>

#include <utility>

#include "front/front_service.h"

namespace hearth::front {
namespace {

Bytes mib(std::int64_t n) { return Bytes{static_cast<std::uint64_t>(n) << 20}; }

}  // namespace

HostLevels::World FrontService::host_levels_world() {
  HostLevels::World world{world_.loop,
                          [this] {
                            std::vector<Model*> all;
                            for (const auto& [artifact, model] : models_) {
                              if (model) all.push_back(model.get());
                            }
                            return all;
                          },
                          [this](const std::string& artifact) -> Model* {
                            const auto found = models_.find(artifact);
                            return found == models_.end() ? nullptr : found->second.get();
                          },
                          keeper_,
                          prefix_.get(),
                          [this](const std::string& artifact, std::string_view layer) {
                            return pin_of(artifact, layer) != nullptr;
                          },
                          [this](const Model& model) { return arrivals_per_hour(model); },
                          [this](const std::string& artifact) { return priority_of(artifact); }};
  world.floor = [this](const std::string& artifact, HoldingKind kind) {
    return warmth_ ? warmth_->floor_reason(artifact, kind) : FloorReason::kNone;
  };
  return world;
}

// What a model with a ttft_ms held may have been taken all the same.
void FrontService::note_promise_broken(const MoveRecord& move) {
  const Result<ModelName> name = ModelName::parse(move.model);
  const NamedModel* named = name ? find(name->key()) : nullptr;
  // Prompt state is no part of any promise.
  const bool counts = move.error.empty() && move.layer != "prefix" && move.cause != "prewarm";
  if (named == nullptr || !counts) return;
  const std::string whom = move.for_whom.empty() ? "others" : move.for_whom;
  warmth_->gave_way(named->artifact.id, "memory was wanted by " + whom);
}

// By its habits, where it has any.
double FrontService::arrivals_per_hour(const Model& model) const {
  const std::string& artifact = model.named().artifact.id;
  if (habits_.arrivals().find(artifact) == nullptr) return model.uses_per_hour();
  constexpr std::chrono::hours kSoon{1};
  return habits_.arrivals().expected_per_hour(artifact, habits_.moments().now(), kSoon);
}

LevelRoom::World FrontService::levels_world() {
  LevelRoom::World world{
      world_.loop,
      world_.clock,
      [this] { return host_levels_->held(); },
      [this] { return host_levels_->held_on_devices(); },
      [this](const std::string& artifact) { return host_levels_->held_by_load(artifact); },
      [this](const std::string& artifact) { return keeper_.held(artifact); },
      [this](LevelRoom::World::Busy busy) { return host_levels_->holdings(busy); },
      [this](Move move) { return host_levels_->make(std::move(move)); },
      [this](const std::string& artifact) { return priority_of(artifact); },
      [this](const std::string& artifact) {
        const NamedModel* named = holder_of(artifact);
        return named == nullptr ? artifact : named->name;
      }};
  world.load_time = [this](const std::string& artifact) -> std::optional<Duration> {
    const auto found = models_.find(artifact);
    if (found == models_.end() || !found->second) return std::nullopt;
    const Forecast loaded = found->second->outlook().alone(0);
    return loaded.known ? std::optional{loaded.time} : std::nullopt;
  };
  world.wanted_by_others = [this] { return protected_ && protected_->wants_memory(); };
  world.on_move = [this](const MoveRecord& move) {
    events_.publish("move", move_json(move));
    note_promise_broken(move);
    if (move.error.empty()) metrics_.level_moved(move.layer, move.to, move.cause);
  };
  return world;
}

LevelRoom::Settings FrontService::level_settings() const {
  LevelRoom::Settings settings;
  settings.limit = mib(config_.memory_mib);
  if (config_.memory_reserve_mib > 0) settings.reserve = mib(config_.memory_reserve_mib);
  settings.device_limit = mib(config_.device_mib);
  settings.pressure.psi_limit = static_cast<double>(config_.psi_limit);
  return settings;
}

int FrontService::priority_of(const std::string& artifact) const {
  const NamedModel* holder = holder_of(artifact);
  const ModelOptions options = config_.effective(holder == nullptr ? "" : holder->key);
  return static_cast<int>(options.priority.value_or(0));
}

Task<void> FrontService::keep_levels() {
  const auto pass = tasks_.enter();
  if (pass) co_await levels_->run();
}

std::string FrontService::memory() const {
  Bytes ours;
  for (const auto& [artifact, model] : models_) {
    const PageSnapshot* pages = layers_.pages().snapshot(artifact);
    if (pages != nullptr) ours += pages->residency.resident;
  }
  return levels_->memory_json(ours);
}

std::string FrontService::moves() const { return levels_->moves().json(); }

std::string FrontService::levels() const {
  std::string warmth;
  for (const auto& [artifact, terms] : warmth_terms()) {
    const NamedModel* named = holder_of(artifact);
    if (named == nullptr) continue;
    if (!warmth.empty()) warmth += ',';
    warmth += fmt::format(R"({{"model":"{}","claim":{}}})", named->name, warmth_->json(artifact));
  }
  return fmt::format(R"({{"protected":{},"prewarming":{},"warmth":[{}]}})", protected_->json(),
                     prewarm_->json(), warmth);
}

}  // namespace hearth::front
