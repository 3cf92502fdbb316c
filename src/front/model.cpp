// SPDX-License-Identifier: Apache-2.0
#include "front/model.h"

#include <algorithm>
#include <utility>

#include "timeline/verdict_code.h"

namespace hearth::front {
namespace {

// How much the newest of a series of measurements counts.
constexpr double kNewest = 0.3;
// Fewer fresh tokens than this measure the overhead of a step rather than its speed.
constexpr int kMeasurableTokens = 16;

LayerSnapshot snapshot_of(const LayerState& state) {
  return {std::string{name_of(state.layer)}, state.level, state.fraction,
          state.bytes,                       state.total, state.detail};
}

}  // namespace

Model::Model(World world, NamedModel named, HostSettings settings, ModelHost::OnChange on_change)
    : world_{world},
      named_{std::move(named)},
      host_{world_.host, HostModel{named_.artifact.id, named_.name, {}}, std::move(settings),
            std::move(on_change)} {
  std::vector<std::string> paths;
  for (const Artifact::Shard& shard : named_.artifact.shards) paths.push_back(shard.path);
  host_.set_paths(std::move(paths));
}

void Model::update(NamedModel named) {
  named_ = std::move(named);
  host_.rename(named_.name);
}

Subject Model::subject() const { return {named_.artifact.id, named_.name, ""}; }

Task<Result<>> Model::prepare(Account& account) {
  if (host_.level() != WeightsLevel::kResident) {
    const TimePoint begun = world_.host.loop.now();
    if (!world_.switches.pages && host_.level() != WeightsLevel::kLoading) {
      Subject subject_to_cool = subject();
      Target coldest;
      // A conflict means that somebody is loading it just now: then it is not ours to drop.
      (void)co_await world_.pages.cool(std::move(subject_to_cool), std::move(coldest));
    }
    Subject scanned = subject();
    Result<PageSnapshot> pages = co_await world_.pages.refresh(std::move(scanned));
    if (pages) account.facts.pages_cause = verdict_code_named(code_of(pages->cause));
    account.timeline.add(
        Stage{StageKind::kArtifactMetadata, begun, world_.host.loop.now(), Bytes{}});
  }
  account.before = before();
  account.facts.model = name();
  account.facts.load_set = account.before.pages.total;
  if (last_reply_at_) account.facts.idle_before = world_.host.loop.now() - *last_reply_at_;
  co_return Result<>{};
}

// ---- layers ----

std::vector<LayerSnapshot> Model::layers() const {
  const Before now = before();
  return {now.artifact, now.pages, now.weights, now.compiled, now.prefix};
}

Before Model::before() const {
  const Bytes load_set = size_of(named_.artifact.load_set());
  Before state;
  state.artifact.level = "local";
  state.artifact.fraction = 1;
  state.artifact.bytes = state.artifact.total = named_.artifact.size();
  state.pages = snapshot_of(world_.pages.observe(subject()));
  state.pages.total = load_set;
  const bool resident = host_.level() == WeightsLevel::kResident;
  state.weights.level = std::string{name_of(host_.level())};
  state.weights.total = load_set;
  if (host_.level() == WeightsLevel::kLoading) state.weights.fraction = host_.load_fraction();
  if (host_.level() == WeightsLevel::kUnloading) state.weights.level = "resident";
  if (resident && host_.last_load()) {
    const wire::MemoryUse& memory = host_.last_load()->loaded.memory;
    state.weights.fraction = 1;
    state.weights.bytes = memory.weights + memory.mapped;
    if (memory.repacked > Bytes{}) {
      state.compiled.level = "live";
      state.compiled.fraction = 1;
      state.compiled.bytes = state.compiled.total = memory.repacked;
    }
    state.device = memory.device;
  }
  if (host_.live_tokens() > 0) {
    state.prefix.level = "live";
    state.prefix.detail = std::to_string(host_.live_tokens()) + " tokens";
  }
  if (const auto started = host_.worker_started()) {
    state.worker_uptime_ms = (world_.host.loop.now() - *started) / std::chrono::milliseconds{1};
  }
  state.worker_resident = host_.heartbeat().resident;
  state.worker_anonymous = host_.heartbeat().anonymous;
  state.cpu_pressure = world_.pressure.cpu;
  state.memory_pressure = world_.pressure.memory;
  return state;
}

int Model::seen_before(const std::vector<int>&, const std::string&) { return 0; }
void Model::note_evaluated(const std::vector<int>&, const std::string&) {}

// ---- what was measured ----

Rates Model::rates() const {
  Rates rates;
  rates.read_bytes_per_s = world_.pages.read_rate();
  rates.load = load_with_pages_;
  rates.prefill_tokens_per_s = prefill_tokens_per_s_;
  return rates;
}

void Model::learn_prefill(const wire::StartedMessage& started) {
  Duration length{};
  for (const Stage& stage : started.stages) {
    if (stage.kind == StageKind::kPrefill) length += stage.length();
  }
  const int fresh = started.prompt_tokens - started.cached_tokens;
  // Prompts that are evaluated beside others say nothing about one alone.
  if (fresh < kMeasurableTokens || length <= Duration::zero() || host_.attached() > 1) return;
  const double rate = 1e9 * fresh / static_cast<double>(length.count());
  prefill_tokens_per_s_ =
      prefill_tokens_per_s_ ? (1 - kNewest) * *prefill_tokens_per_s_ + kNewest * rate : rate;
}

void Model::learn_load() {
  if (host_.has_worker() && !host_.spawn_stages().empty()) {
    spawn_ = host_.spawn_stages().front().length();
  }
  if (!host_.last_load() || host_.last_load()->number == loads_learned_) return;
  const LoadRecord& load = *host_.last_load();
  loads_learned_ = load.number;
  world_.metrics.model_loaded(name());
  Duration reading{};
  for (const Stage& stage : load.loaded.stages) {
    if (stage.kind != StageKind::kRead) continue;
    reading += stage.length();
    world_.pages.note_read(stage.bytes, stage.length());
  }
  load_with_pages_ = load.length - reading;
}

std::optional<double> Model::eta_ms() const {
  if (host_.level() == WeightsLevel::kResident) return 0.0;
  if (!load_with_pages_) return std::nullopt;
  double ms = milliseconds_of(*load_with_pages_);
  if (!host_.has_worker() && spawn_) ms += milliseconds_of(*spawn_);
  const Estimate read = world_.pages.cost_to_warm(subject());
  if (read.known) ms += milliseconds_of(read.time);
  return ms * (1 - host_.load_fraction());
}

std::optional<double> Model::predicted_ttft_ms() const {
  const std::optional<double> warm_up = eta_ms();
  if (!warm_up || !prefill_tokens_per_s_) return std::nullopt;
  return *warm_up + 1000.0 * kShortPrompt / *prefill_tokens_per_s_;
}

int Model::retry_after_s() const {
  // A place comes free about as often as requests end; without a measure, a second is polite.
  const int waiting = host_.admission().waiting();
  return std::clamp(waiting / 16, 1, 30);
}

void Model::request_arrived() { ++requests_; }

void Model::request_left() {
  --requests_;
  last_reply_at_ = world_.host.loop.now();
}

}  // namespace hearth::front
