// SPDX-License-Identifier: Apache-2.0
//
// FrontService keeping what was evaluated of prompts.
#include <algorithm>
#include <utility>

#include "front/front_service.h"
#include "layers/pages/memory_room.h"

namespace hearth::front {
namespace {

constexpr std::uint64_t kShareOfMemory = 10;  // one part of so many
constexpr int kUsualPrompt = 512;             // tokens

Bytes mebibytes(std::int64_t count) { return Bytes{static_cast<std::uint64_t>(count) << 20}; }
Bytes gibibytes(std::int64_t count) { return Bytes{static_cast<std::uint64_t>(count) << 30}; }

}  // namespace

std::unique_ptr<PrefixDesk> FrontService::make_prefix_desk() {
  if (!config_.switches.prefix) return nullptr;
  const Bytes share{memory_room(world_.files).value_or(Bytes{}).count() / kShareOfMemory};
  PrefixRoom::World room{world_.loop,
                         disk_pool_,
                         world_.files,
                         world_.clock,
                         config_.data + "/prefix",
                         [this, share] { return prefix_limits(share); },
                         [this](const std::string& artifact) { return content_of(artifact); },
                         [this](const std::string& artifact) { return prefill_rate_of(artifact); }};
  PrefixDesk::World world{std::move(room), [this]() -> const KeyRing& { return keys_; },
                          config_.prefix_groups, config_.prefix_normalise};
  world.forget_cells = [this](const std::string& artifact) { forget_cells(artifact); };
  return std::make_unique<PrefixDesk>(std::move(world));
}

void FrontService::forget_cells(const std::string& artifact) {
  for (const auto& [id, model] : models_) {
    if (!artifact.empty() && id != artifact) continue;
    model->host().send(wire::make_frame(wire::FrameType::kForgetCells, 0, "{}"));
  }
}

PrefixRoom::Limits FrontService::prefix_limits(Bytes share) const {
  PrefixRoom::Limits limits;
  const std::int64_t memory = config_.prefix_memory_mib;
  limits.memory = memory < 0 ? share : mebibytes(memory);
  limits.disk = gibibytes(config_.prefix_disk_gib);
  limits.daily = gibibytes(config_.prefix_daily_gib);
  limits.days = static_cast<int>(config_.prefix_days);
  return limits;
}

std::optional<std::string> FrontService::content_of(const std::string& artifact) const {
  const auto named =
      std::ranges::find(named_, artifact, [](const NamedModel& one) { return one.artifact.id; });
  return named == named_.end() ? std::nullopt : named->artifact.content();
}

double FrontService::prefill_rate_of(const std::string& artifact) const {
  const auto found = models_.find(artifact);
  if (found == models_.end() || !found->second) return 0;
  const PrefillCurve prefill = found->second->outlook().prefill;
  if (!prefill.measured()) return 0;
  const double seconds = prefill.seconds(kUsualPrompt);
  return seconds > 0 ? kUsualPrompt / seconds : 0;
}

Task<void> FrontService::open_prefixes() {
  const auto pass = tasks_.enter();
  if (!pass || !prefix_) co_return;
  co_await prefix_->open();
  metrics_.set_prefix(prefix_->figures());
  module_keeper_.changed();
}

}  // namespace hearth::front
