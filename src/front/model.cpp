// SPDX-License-Identifier: Apache-2.0
#include "front/model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "timeline/verdict_code.h"

namespace hearth::front {
Model::Model(World world, NamedModel named, HostSettings settings, ModelHost::OnChange on_change)
    : world_{world},
      named_{std::move(named)},
      host_{world_.host, HostModel{named_.artifact.id, named_.name, {}}, std::move(settings),
            std::move(on_change)},
      stay_{world.host.loop, world.clock, [this] { world_.host.loop.spawn(give_back_idle()); }},
      starts_{Starts::World{world.host.loop, world.layers, world.metrics, world.predictor,
                            host_.admission().places()},
              host_},
      known_since_{world.host.loop.now()},
      request_ended_{world_.host.loop} {
  std::vector<std::string> paths, adapters;
  for (const Artifact::Shard& shard : named_.artifact.shards) paths.push_back(shard.path);
  for (const Artifact::Shard& adapter : named_.artifact.adapters) adapters.push_back(adapter.path);
  host_.set_paths(std::move(paths), std::move(adapters));
  std::vector<FileInfo> known;
  for (const Artifact::Shard* file : named_.artifact.files()) known.push_back(file->file);
  host_.set_known(std::move(known));
}

void Model::update(NamedModel named) {
  named_ = std::move(named);
  host_.rename(named_.name);
}

Subject Model::subject() const { return {named_.artifact.id, named_.name, ""}; }

Task<Result<>> Model::look_at_pages(Account& account) {
  const TimePoint begun = world_.host.loop.now();
  if (!world_.switches.pages && host_.level() != WeightsLevel::kLoading) {
    Subject subject_to_cool = subject();
    Target coldest;
    // A conflict means that somebody is loading it just now: then it is not ours to drop.
    (void)co_await world_.layers.pages().cool(std::move(subject_to_cool), std::move(coldest));
  }
  Subject scanned = subject();
  Result<PageSnapshot> pages = co_await world_.layers.pages().refresh(std::move(scanned));
  if (pages) account.facts.pages_cause = verdict_code_named(code_of(pages->cause));
  account.timeline.add(Stage{StageKind::kArtifactMetadata, begun, world_.host.loop.now(), Bytes{}});
  co_return Result<>{};
}

Task<Result<>> Model::prepare(Account& account, Use use) {
  if (use == Use::kWeights && host_.level() != WeightsLevel::kResident) {
    Result<> looked = co_await look_at_pages(account);
    if (!looked) co_return looked;
  }
  account.before = before();
  account.facts.load_set = account.before.pages.total;
  account.facts.file_changed = file_changed_ && !host_.last_load();
  account.note_swap(host_.heartbeat().swapped);
  if (stay_.expired()) {
    account.facts.keep_alive = stay_.expired()->keep_alive.text();
    account.facts.keep_alive_source = stay_.expired()->source;
  }
  if (last_reply_at_) account.facts.idle_before = world_.host.loop.now() - *last_reply_at_;
  co_return Result<>{};
}

Task<Result<>> Model::release() {
  if (stay_.in_use() || host_.level() == WeightsLevel::kLoading) {
    stay_.release();
    co_return Result<>{};
  }
  co_return co_await host_.unload(WeightsCause::kAsked);
}

Task<void> Model::give_back_idle() {
  // It fails only when the server stops, which ends the worker anyway.
  [[maybe_unused]] const Result<> given = co_await host_.unload(WeightsCause::kIdle);
}

// ---- layers ----

std::vector<LayerSnapshot> Model::layers() const {
  const Before now = before();
  return {now.artifact, now.pages, now.weights, now.compiled, now.prefix};
}

Before Model::before() const {
  const Subject about = subject();
  const LayerSet& layers = world_.layers;
  Before state;
  state.artifact = layers.snapshot(LayerKind::kArtifact, about);
  state.pages = layers.snapshot(LayerKind::kPages, about);
  state.weights = layers.snapshot(LayerKind::kWeights, about);
  state.compiled = layers.snapshot(LayerKind::kCompiled, about);
  state.prefix = layers.snapshot(LayerKind::kPrefix, about);
  if (host_.level() == WeightsLevel::kResident && host_.last_load()) {
    state.device = host_.last_load()->loaded.memory.device;
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

PrefixRoom::Use Model::prefix_use(std::string group) const {
  return {named_.artifact.id, std::move(group), *host_.ready(), host_.options()};
}

std::optional<VerdictCode> Model::compiled_cause() const {
  return verdict_code_named(code_of(world_.layers.compiled().cause(subject())));
}

Task<Bytes> Model::driver_bytes() const {
  return world_.layers.compiled().measure_drivers(subject());
}

// ---- what was measured ----

Rates Model::rates() const {
  const Outlook now = outlook();
  Rates rates;
  rates.read_bytes_per_s = world_.layers.pages().read_rate();
  rates.load = starts_.load_time(named_.artifact);
  rates.compile = starts_.repack_time();
  rates.layers = starts_.layers(named_.artifact);
  if (now.prefill.measured()) {
    rates.prefill_tokens_per_s = kShortPrompt / now.prefill.seconds(kShortPrompt);
  }
  return rates;
}

Model::Learned Model::learn_from_host() {
  starts_.note_host(named_.artifact);
  const WeightsLevel before = std::exchange(level_seen_, host_.level());
  const bool went = before == WeightsLevel::kResident && host_.level() != WeightsLevel::kResident;
  if (went) world_.layers.weights().note_given_back(subject(), host_.weights_cause());
  if (host_.level() == WeightsLevel::kResident) {
    stay_.resident();
  } else if (went) {
    stay_.gone();
  }
  if (!host_.last_load() || host_.last_load()->number == loads_learned_) {
    return Learned::kNothing;
  }
  const LoadRecord& load = *host_.last_load();
  loads_learned_ = load.number;
  world_.metrics.model_loaded(name());
  if (load.request == 0) world_.metrics.read_outside_requests(load.loaded.bytes_read);
  world_.layers.weights().note_loaded(subject(), load.length);
  const bool reads_tell = load.loaded.repack != "built";  // else they waited for the repacking
  for (const Stage& stage : load.loaded.stages) {
    if (!reads_tell || stage.kind != StageKind::kRead) continue;
    world_.layers.pages().note_read(stage.bytes, stage.length());
  }
  starts_.note_load(load);
  return Learned::kLoad;
}

std::optional<double> Model::eta_ms() const {
  if (host_.level() == WeightsLevel::kResident) return 0.0;
  const Forecast loaded = outlook().alone(0);
  if (!loaded.known) return std::nullopt;
  return milliseconds_of(loaded.time);
}

int Model::retry_after_s() const {
  // Without a measure a second is polite; with one, when a quarter of those who wait have been
  // served.
  const int waiting = host_.admission().waiting();
  const std::optional<Duration> place = starts_.time_to_place();
  const double seconds =
      place ? milliseconds_of(*place) * waiting / 4000 : static_cast<double>(waiting) / 16;
  return static_cast<int>(std::clamp(std::ceil(seconds), 1.0, 60.0));
}

void Model::request_arrived(Use use) {
  ++requests_;
  if (use == Use::kWeights) stay_.arrive();
}

void Model::request_reached(Use use, const std::optional<KeepAlive>& keep_alive) {
  if (use == Use::kWeights) stay_.reach(keep_alive);
  ++uses_;
}

void Model::request_left(Use use, Stay::Left how) {
  --requests_;
  if (use == Use::kWeights) {
    if (how == Stay::Left::kServed) last_reply_at_ = world_.host.loop.now();
    stay_.leave(how);
  }
  request_ended_.notify_all();
}

Task<void> Model::unused() {
  while (requests_ > 0) co_await request_ended_.wait();
}

}  // namespace hearth::front
