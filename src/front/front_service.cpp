// SPDX-License-Identifier: Apache-2.0
#include "front/front_service.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/version.h"
#include "front/about.h"
#include "front/live_json.h"
#include "front/made_model.h"
#include "front/model_status.h"
#include "front/system_pressure.h"

namespace hearth::front {
namespace {

constexpr std::chrono::seconds kTick{2};
constexpr int kTicksPerRecheck = 15;

}  // namespace

Result<std::unique_ptr<FrontService>> FrontService::open(World world, Config config) {
  // Artifacts are known by paths without links; those of our own store must read the same.
  if (Result<std::string> real = world.files.real_path(config.data)) config.data = *std::move(real);
  Result<Catalogue> catalogue =
      Catalogue::open(config.data + "/catalogue.db", world.files, world.clock);
  if (!catalogue) return Failed{std::move(catalogue).error().during("catalogue")};
  HistoryLimits limits;
  limits.rows = config.history_rows;
  Result<History> history = History::open(config.data + "/history.db", limits);
  if (!history) return Failed{std::move(history).error().during("history")};
  Result<KeyStore> keys = KeyStore::open(config.data + "/keys.db", world.clock);
  if (!keys) return Failed{std::move(keys).error().during("keys")};
  Result<std::vector<KeyRing::Kept>> kept = keys->list();
  if (!kept) return Failed{std::move(kept).error().during("keys")};
  if (auto tidied = forget_half_made(*catalogue); !tidied) {
    return Failed{std::move(tidied).error().during("catalogue")};
  }
  Result<std::vector<NamedModel>> named = catalogue->list();
  if (!named) return Failed{std::move(named).error().during("catalogue")};
  std::unique_ptr<FrontService> service{new FrontService{
      std::move(world), std::move(config), std::move(*catalogue), std::move(*history)}};
  service->named_ = std::move(*named);
  service->key_store_ = std::move(*keys);
  service->keys_ = KeyRing{std::move(*kept)};
  service->layers_.artifact().update(service->named_);
  service->rate_notes_.load();
  service->habits_.load();
  service->warmth_->load();
  service->warmth_->set(service->warmth_terms());
  service->modules_ = ModuleSet{service->module_store().load()};
  service->modules_.declare(
      ModuleSet::read_declared(service->world_.files, service->config_.modules));
  if (const Result<> swept = service->blobs_.sweep(); !swept) {
    log::warn("store.not_swept", {{"error", swept.error().message()}});
  }
  return service;
}

FrontService::FrontService(World world, Config config, Catalogue catalogue, History history)
    : world_{std::move(world)},
      config_{std::move(config)},
      random_{world_.seed},
      started_{world_.loop.now()},
      catalogue_{std::move(catalogue)},
      history_{std::move(history)},
      catalogue_pool_{"catalogue", 1},
      history_pool_{"history", 1},
      disk_pool_{"disk", 4},
      process_pool_{"process", 2},
      metrics_{BuildInfo{std::string{version()}, std::string{engine_build()}}},
      events_{world_.loop},
      access_{config_.access()},
      devices_{devices_world(), load_device_book(world_.files, config_.data + "/devices.json"),
               world_.seed},
      compiled_{compiled_world()},
      prefix_{make_prefix_desk()},
      layers_{LayerSet::World{
          world_.loop, disk_pool_, world_.files, world_.clock,
          [this](const std::string& artifact) { return host_of(artifact); },
          [this](const std::string& artifact) { return load_set_of(artifact); },
          [this](const std::string& artifact) { return keeper_.held(artifact); }, &devices_,
          &compiled_,
          prefix_ ? static_cast<StoredPrefixes*>(prefix_.get()) : &NoStoredPrefixes::instance()}},
      habits_{world_.files, config_.data + "/arrivals.json", Moments{world_.clock},
              prewarm_rules()},
      tasks_{world_.loop},
      requests_{world_.loop},
      stop_asked_{world_.loop},
      keeper_{Keeper::World{world_.loop, process_pool_, disk_pool_, world_.files, world_.processes,
                            world_.keeper_program,
                            Bytes{static_cast<std::uint64_t>(config_.pinned_mib) << 20}},
              [this] { pins_.look_again(); }},
      pins_{pins_world()},
      store_watch_{store_watch_world()} {
  metrics_.before_text([this] { update_gauges(); });
  host_levels_ = std::make_unique<HostLevels>(host_levels_world());
  levels_ = std::make_unique<LevelRoom>(levels_world(), level_settings());
  protected_ = std::make_unique<ProtectedServices>(protected_world());
  prewarm_ = std::make_unique<PrewarmRunner>(prewarm_world());
  warmth_ = std::make_unique<WarmKeeper>(warmth_world());
  protected_->set(config_.protected_services);
}

FrontService::~FrontService() = default;

void FrontService::start() {
  world_.loop.spawn(tick());
  world_.loop.spawn(keep_levels());
  world_.loop.spawn(know_models_with_habits());
  protected_->start();
  prewarm_->start();
  warmth_->start();
  world_.loop.spawn(compiled_.tidy());
  world_.loop.spawn(open_prefixes());
  world_.loop.spawn(note_module_versions());
  verifier_.start();
  world_.loop.spawn(store_watch_.run());
  world_.loop.spawn(pulls_.look_for_parts());
  sync_pins();
  set_traces();
  traces_.start();
  for (const NamedModel* named : last_used()) world_.loop.spawn(warm_up(named->name));
}

Task<void> FrontService::warm_up(std::string name) {
  const auto pass = tasks_.enter();
  if (!pass) co_return;
  Result<Model*> model = co_await resolve(std::move(name));
  if (model) (void)co_await (*model)->host().ensure_worker(&stopping_);
}

Task<void> FrontService::stop(TimePoint deadline) {
  stopping_ = true;
  stop_asked_.notify_all();
  pins_.set({});
  warm_ups_.cancel();
  levels_->stop();
  devices_.poke();
  module_keeper_.give_up();
  co_await pulls_.stop();  // requests may wait for one
  const bool drained = co_await requests_.close_until(deadline);
  if (!drained) log::warn("stop.requests_cut", {{"left", requests_.inside()}});
  events_.close_all();
  co_await stop_hosts();
  co_await module_keeper_.stop();
  co_await protected_->stop();
  co_await prewarm_->stop();
  co_await compiled_.stop();
  co_await keeper_.stop();
  co_await warmth_->stop();  // it may wait for pages to be locked
  co_await pins_.stop();
  co_await verifier_.stop();
  co_await store_watch_.stop();
  co_await requests_.close();
  co_await tasks_.close();
  co_await rate_notes_.save(world_.loop, disk_pool_);
  co_await habits_.save(world_.loop, disk_pool_);
  co_await warmth_->save(disk_pool_);
  // What was being resolved when the deadline passed may have brought a host of its own.
  co_await stop_hosts();
  if (prefix_) co_await prefix_->room().stop();
  co_await traces_.stop();
}

Task<void> FrontService::stop_host(Model& model, Gate::Pass) {
  model.host().poke();
  co_await model.host().settle();
  co_await model.host().stop();
}

// Side by side: a worker that will not leave has some seconds of grace.
Task<void> FrontService::stop_hosts() {
  Gate ends{world_.loop};
  for (auto& [artifact, model] : models_) world_.loop.spawn(stop_host(*model, *ends.enter()));
  co_await ends.close();
}

// ---- requests ----

std::unique_ptr<Reply> FrontService::generate(GenerateRequest request, Delivery delivery) {
  if (Result<> added = add_modules(request); !added) {
    return refuse(std::move(request.context), std::move(added).error());
  }
  request.message.chat_template = template_of(request.context.model);
  return begin(std::move(request.context), std::move(request.message), delivery);
}

std::unique_ptr<Reply> FrontService::embed(EmbedRequest request) {
  return begin(std::move(request.context), std::move(request.message), Delivery::kWhole);
}

std::unique_ptr<Reply> FrontService::load(LoadRequest request) {
  return begin(std::move(request.context), RequestRun::LoadWork{}, Delivery::kWhole);
}

std::unique_ptr<Reply> FrontService::begin(RequestContext context, RequestRun::Work work,
                                           Delivery delivery) {
  std::string name = context.model;
  auto run = make_run(std::move(context), std::move(work), delivery);
  world_.loop.spawn(serve(run, std::move(name)));
  return std::make_unique<RunReply>(std::move(run));
}

std::unique_ptr<Reply> FrontService::refuse(RequestContext context, Error error) {
  auto run = make_run(std::move(context), RequestRun::LoadWork{}, Delivery::kWhole);
  world_.loop.spawn(RequestRun::refuse(run, std::move(error)));
  return std::make_unique<RunReply>(std::move(run));
}

std::shared_ptr<RequestRun> FrontService::make_run(RequestContext context, RequestRun::Work work,
                                                   Delivery delivery) {
  std::string name = context.model;
  RequestRun::Input input;
  input.id = random_.id(20);
  input.number = next_request_++;
  input.context = std::move(context);
  begin_trace(input.context);
  input.work = std::move(work);
  input.delivery = delivery;
  if (!input.context.by_itself) {
    events_.publish("request", request_started_json(input.id, name, input.context));
    input.on_stages = [this](const RequestRun& run) {
      if (events_.subscribers() == 0) return;
      events_.publish("request", request_running_json(run.report(), run.waited()));
    };
  }
  const bool asked = !input.context.by_itself;
  auto run = std::make_shared<RequestRun>(
      world_.loop, std::move(input), world_.clock.wall_us(),
      [this, name](const RequestReport& report) { on_closed(name, report); });
  std::erase_if(under_way_, [](const auto& one) { return one.expired(); });
  if (asked) under_way_.push_back(run);
  return run;
}

Task<void> FrontService::serve(std::shared_ptr<RequestRun> run, std::string name) {
  const auto pass = requests_.enter();
  if (!pass) {
    Error stopping{ErrorCode::kUnavailable, "the server is stopping"};
    co_await RequestRun::refuse(std::move(run), std::move(stopping));
    co_return;
  }
  Result<Model*> model = co_await bring_model(run, name);
  if (!model) {
    co_await RequestRun::refuse(std::move(run), std::move(model).error());
    co_return;
  }
  const std::string artifact = (*model)->named().artifact.id;
  const Result<ModelName> parsed = ModelName::parse(name);
  const NamedModel* named = parsed ? find(parsed->key()) : nullptr;
  std::string asked_for = named == nullptr ? (*model)->name() : named->name;
  const bool is_use = run->is_use();
  if (is_use) note_arrival(artifact);
  co_await RequestRun::run(run, **model, std::move(asked_for));
  has_computed_ = true;
  levels_->look_again();  // it may be idle now
  if (is_use) note_first_token(*run, artifact);
  if (run->used_model()) touch(artifact);
  if (!config_.switches.weights) co_await give_back_weights(artifact);
}

Task<void> FrontService::give_back_weights(std::string artifact) {
  const auto found = models_.find(artifact);
  if (found == models_.end() || found->second->requests() > 0) co_return;
  (void)co_await found->second->host().unload(WeightsCause::kAsked);
}

Model& FrontService::model_for(const NamedModel& named) {
  std::unique_ptr<Model>& model = models_[named.artifact.id];
  if (!model) {
    ModelHost::World host_world{world_.loop, process_pool_, world_.files, world_.processes};
    host_world.planner = &load_planner_;
    host_world.gate = &levels_->gate();
    host_world.disk = &disk_pool_;
    host_world.variant = &cpu_variant_;
    host_world.prefixes = prefix_.get();
    Model::World world{host_world,       world_.clock,           layers_, metrics_, pressure_,
                       config_.switches, rate_notes_.predictor()};
    world.warm_bound = [this](const std::string& artifact) { return warmth_->bound(artifact); };
    const std::string& artifact = named.artifact.id;
    const NamedModel& holder = *holder_of(artifact);
    warn_of_shared_files(holder);
    model = std::make_unique<Model>(world, holder, host_settings(artifact),
                                    [this](ModelHost& host) { on_host_changed(host); });
    model->stay().set_default(default_terms(artifact));
    if (changed_files_.erase(artifact) > 0) model->note_file_changed();
    model->host().give_way(protected_->give_way());
    if (pin_of(artifact, "weights") != nullptr) model->stay().set_pin(Stay::Pin::kPinned);
  }
  return *model;
}

Task<void> FrontService::retire(std::string artifact) {
  const auto pass = tasks_.enter();
  const auto found = models_.find(artifact);
  // A server that stops ends every host itself, and walks over models_ meanwhile.
  if (!pass || stopping_ || found == models_.end()) co_return;
  std::unique_ptr<Model> model = std::move(found->second);
  models_.erase(found);
  model->host().admission().pause();
  co_await model->host().admission().drained();
  co_await model->host().stop();
  model->host().admission().resume();  // those who waited are told that it stops
  co_await model->unused();
  hosts_seen_.erase(artifact);
  touched_.erase(artifact);
  if (holder_of(artifact) != nullptr) co_return;
  habits_.forget(artifact);
  warmth_->forget(artifact);
}

std::optional<LoadSet> FrontService::load_set_of(const std::string& artifact) const {
  for (const NamedModel& named : named_) {
    const bool usable = named.artifact.status == ArtifactStatus::kOk ||
                        named.artifact.status == ArtifactStatus::kChanged;
    if (named.artifact.id == artifact && usable) return compiled_.load_set(named.artifact);
  }
  return std::nullopt;
}

ModelHost* FrontService::host_of(const std::string& artifact) const {
  const auto found = models_.find(artifact);
  return found == models_.end() || !found->second ? nullptr : &found->second->host();
}

Task<void> FrontService::tick() {
  const auto pass = tasks_.enter();
  for (int n = 1; !stopping_; ++n) {
    pressure_ = read_system_pressure();
    // Iterating over a copy of the keys: models come and go while a scan is awaited.
    std::vector<std::string> artifacts;
    for (const auto& [artifact, model] : models_) artifacts.push_back(artifact);
    for (const std::string& artifact : artifacts) {
      if (const auto found = models_.find(artifact); found != models_.end()) {
        Subject subject = found->second->subject();
        (void)co_await layers_.pages().refresh(std::move(subject));
      }
    }
    review_hollow_workers();
    pins_.look_again();  // a load set may have become another
    module_keeper_.look();
    habits_.arrivals().observe(habits_.moments().now());
    if (n % kTicksPerRecheck == 0) {
      co_await rate_notes_.save(world_.loop, disk_pool_);
      co_await habits_.save(world_.loop, disk_pool_);
      co_await warmth_->save(disk_pool_);
    }
    if (n % kTicksPerRecheck == 1) {
      std::vector<std::string> all;
      for (const NamedModel& named : named_) all.push_back(named.artifact.id);
      for (const std::string& artifact : all) (void)co_await recheck(artifact);
      if (config_.partial_days > 0) world_.loop.spawn(drop_old_parts());
    }
    (void)co_await stop_asked_.wait_until(world_.loop.now() + kTick);
  }
}

// Deleting a large file takes its time, and the ticker has other things to do.
Task<void> FrontService::drop_old_parts() {
  const auto pass = tasks_.enter();
  if (!pass || dropping_old_parts_) co_return;
  dropping_old_parts_ = true;
  const std::chrono::days age{config_.partial_days};
  std::set<std::string> awaited = awaited_sources();
  co_await pulls_.drop_older_than(age, std::move(awaited));
  dropping_old_parts_ = false;
}

}  // namespace hearth::front
