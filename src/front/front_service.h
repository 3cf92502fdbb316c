// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/files.h"
#include "base/pool.h"
#include "base/process.h"
#include "base/random.h"
#include "base/sync.h"
#include "front/compiled_room.h"
#include "front/config.h"
#include "front/config/change.h"
#include "front/devices.h"
#include "front/keeper.h"
#include "front/key_store.h"
#include "front/layer_set.h"
#include "front/levels/host_levels.h"
#include "front/levels/level_room.h"
#include "front/load_planner.h"
#include "front/model.h"
#include "front/modules/module_keeper.h"
#include "front/modules/module_set.h"
#include "front/modules/module_store.h"
#include "front/pins.h"
#include "front/prefix_desk.h"
#include "front/prefix_json.h"
#include "front/prewarm/habit_file.h"
#include "front/prewarm/prewarm_runner.h"
#include "front/protected/protected_services.h"
#include "front/pulls/pulls.h"
#include "front/rate_notes.h"
#include "front/request_run.h"
#include "front/service.h"
#include "front/store_watch.h"
#include "front/verify/verifier.h"
#include "front/warmth/warm_keeper.h"
#include "layers/artifact/catalogue.h"
#include "layers/progress.h"
#include "timeline/history.h"
#include "timeline/metrics.h"
#include "traces/exporter.h"
#include "traces/tracer.h"

namespace hearth::front {

// The front: catalogue, models with their workers, history, metrics and live events behind Service.
// Belongs to the loop; its pools do what blocks. stop() before destroying it.
class FrontService : public Service {
 public:
  struct World {
    EventLoop& loop;
    const Clock& clock;
    const Files& files;
    Processes& processes;
    std::string worker_program;
    std::uint64_t seed = 0;  // of request ids
    // Loads the configuration again. May block; called on a pool's thread.
    std::function<Result<Config>()> load_config = {};
    std::string keeper_program = {};
    // Where other programs keep their models. Without one, none of their stores are known.
    std::map<std::string, std::string> environment = {};
    std::string fetcher_program = {};
    // Sends traces to a collector. May block; called on a pool's thread. Without one, none are
    // sent.
    traces::Poster post_traces = {};
  };

  // Opens (and, where missing, makes) catalogue, history and keys in config.data. Blocks: call it
  // before the loop runs. Errors: kConflict (written by a newer Hearth), kCorrupt (the keys),
  // kNoSpace, kUnavailable.
  static Result<std::unique_ptr<FrontService>> open(World world, Config config);
  ~FrontService() override;

  // Starts what runs by itself: hollow workers for the models used last, and the ticker that keeps
  // snapshots fresh.
  void start();

  // Refuses new requests, lets those under way end until `deadline`, ends all workers.
  Task<void> stop(TimePoint deadline);

  std::unique_ptr<Reply> generate(GenerateRequest request, Delivery delivery) override;
  std::unique_ptr<Reply> embed(EmbedRequest request) override;
  std::unique_ptr<Reply> load(LoadRequest request) override;
  std::vector<ModelStatus> models() const override;
  Result<ModelStatus> model(const std::string& name) const override;
  Task<Result<ModelStatus>> import_model(std::string path, std::string name) override;
  Task<Result<>> remove_model(std::string name) override;
  Task<Result<ModelStatus>> copy_model(std::string from, std::string to) override;
  Task<Result<ModelDetails>> details(std::string name) override;
  Task<Result<ModelStatus>> unload(std::string name) override;
  Task<Result<ModelStatus>> release(std::string name) override;
  Task<Result<ModelStatus>> pin(std::string name, std::string layer, Bytes bytes) override;
  Task<Result<ModelStatus>> unpin(std::string name, std::string layer) override;
  Task<Result<ModelStatus>> warm(std::string name, std::string layer) override;
  Task<Result<ModelStatus>> cool(std::string name, std::string layer) override;
  std::unique_ptr<Transfer> pull(PullRequest request) override;
  std::unique_ptr<Transfer> verify(VerifyRequest request) override;
  std::vector<PullStatus> pulls() const override;
  Task<Result<>> stop_pull(std::string name, Parts parts) override;
  Task<Result<std::vector<Prunable>>> prune(Prune what) override;
  Task<Result<CoolPreview>> preview_cool(std::string name, std::string layer) override;
  Task<Result<ModelStatus>> create_model(CreateRequest request) override;
  Task<Result<Bytes>> blob(std::string digest) override;
  Task<Result<std::unique_ptr<BlobUpload>>> receive_blob(std::string digest, Bytes size) override;
  Task<Result<>> rescan() override;
  std::string prefix(PromptTexts texts) const override;
  Task<Result<Bytes>> cool_prefix(PrefixChoice choice) override;
  std::string doctor(PromptTexts texts) const override;
  std::string memory() const override;
  std::string moves() const override;
  std::string levels() const override;
  std::vector<ModuleStatus> modules() const override;
  Result<ModuleStatus> module(const std::string& name) const override;
  Task<Result<ModuleStatus>> set_module(ModuleRequest request) override;
  Task<Result<>> remove_module(std::string name) override;
  Task<Result<std::vector<std::string>>> history(HistoryQuery query) override;
  Task<Result<std::string>> history_entry(std::string id) override;
  std::string running() const override;
  const KeyRing& keys() const override { return keys_; }
  const AccessRules& access() const override { return access_; }
  Task<Result<NewKey>> add_key(std::string name, Role role) override;
  Task<Result<>> remove_key(std::string id_or_name) override;
  std::string configuration() const override;
  Task<Result<std::string>> reload_configuration() override;
  // Says so in the log while others than this machine reach the server and there are no keys.
  void warn_when_open() const;
  // What holds now: after a reload, with what it could take over.
  const Config& config() const { return config_; }
  EventBus& events() override { return events_; }
  Metrics& metrics() override;
  std::string about() const override;

 private:
  FrontService(World world, Config config, Catalogue catalogue, History history);

  std::unique_ptr<Reply> begin(RequestContext context, RequestRun::Work work, Delivery delivery);
  std::unique_ptr<Reply> refuse(RequestContext context, Error error);
  std::shared_ptr<RequestRun> make_run(RequestContext context, RequestRun::Work work,
                                       Delivery delivery);
  std::string template_of(const std::string& name) const;
  Result<> add_modules(GenerateRequest& request);
  ModuleKeeper::World module_world();
  std::optional<ModuleKeeper::Model> module_model(const std::string& name) const;
  std::vector<ModuleKeeper::Asker> module_askers() const;
  std::string modules_json() const;
  ModuleStore module_store() const { return {world_.files, config_.data + "/modules.json"}; }
  Task<Result<>> save_modules();
  Task<void> note_module_versions();
  Task<void> reread_modules();
  Task<Result<>> warm_modules(std::string name);
  Task<void> serve(std::shared_ptr<RequestRun> run, std::string name);
  Task<Result<Model*>> resolve(std::string name);
  bool is_trusted_in_use(const NamedModel& named) const;
  Task<Result<Model*>> bring_model(std::shared_ptr<RequestRun> run, std::string name);
  Task<Result<>> recheck(std::string artifact);
  Task<Result<>> refresh_catalogue();
  Task<void> retire(std::string artifact);
  Task<void> refresh_pages(std::string artifact);
  CompiledRoom::World compiled_world();
  std::unique_ptr<PrefixDesk> make_prefix_desk();
  void forget_cells(const std::string& artifact);
  PrefixRoom::Limits prefix_limits(Bytes share) const;
  std::optional<std::string> content_of(const std::string& artifact) const;
  double prefill_rate_of(const std::string& artifact) const;
  Task<void> open_prefixes();
  PrefixView::OfModel prefix_of(const NamedModel& named) const;
  std::vector<VolatileHead> prefix_findings(PromptTexts texts) const;
  Task<Result<>> hash_content(std::string name);
  CoolPreview preview_compiled(const NamedModel& named) const;
  Task<void> look_at_files(std::string artifact);
  HostLevels::World host_levels_world();
  LevelRoom::World levels_world();
  LevelRoom::Settings level_settings() const;
  Task<void> keep_levels();
  ProtectedServices::World protected_world();
  bool computes();
  void share_with_services();
  PrewarmRules prewarm_rules() const;
  PrewarmRunner::World prewarm_world();
  PrewarmSigns prewarm_signs() const;
  std::vector<PrewarmCandidate> prewarm_candidates() const;
  std::optional<PrewarmCandidate> candidate(const Model& model) const;
  Task<Result<Bytes>> warm_ahead(std::string artifact, Bytes bytes,
                                 std::shared_ptr<SharedProgress> progress);
  Task<Result<>> give_up(std::string artifact);
  double arrivals_per_hour(const Model& model) const;
  void note_promise_broken(const MoveRecord& move);
  void note_arrival(const std::string& artifact);
  Task<void> know_models_with_habits();
  WarmKeeper::World warmth_world();
  WarmKeeper::Terms warmth_terms() const;
  std::optional<WarmView> warmth_view(const std::string& artifact) const;
  Task<Result<>> stand(std::string artifact, RungDecision decision);
  Task<Result<Duration>> probe(std::string artifact);
  void note_first_token(const RequestRun& run, const std::string& artifact);
  int priority_of(const std::string& artifact) const;
  void review_hollow_workers();
  Task<void> end_hollow(std::string artifact, HollowFate fate);
  std::vector<const NamedModel*> last_used() const;
  Task<void> stop_hosts();
  static Task<void> stop_host(Model& model, Gate::Pass pass);
  Task<void> tick();
  Task<void> drop_old_parts();
  std::set<std::string> awaited_sources() const;
  Task<void> warm_up(std::string name);
  Task<void> give_back_weights(std::string artifact);
  Model& model_for(const NamedModel& named);
  const NamedModel* find(const std::string& key) const;
  ModelStatus status_of(const NamedModel& named) const;
  HostSettings host_settings(const std::string& artifact) const;
  const NamedModel* holder_of(const std::string& artifact) const;
  StayTerms default_terms(const std::string& artifact) const;
  void apply_terms();
  void warn_of_shared_files(const NamedModel& holder);
  std::vector<std::string> aliases_of(const NamedModel& named) const;
  Result<> check_removable(const ModelName& name) const;
  const Pin* pin_of(const std::string& artifact, std::string_view layer) const;
  bool in_force(const Pin& pin) const;
  void sync_pins();
  Pins::World pins_world();
  bool holds(const PinKey& pin) const;
  Task<Result<>> hold(PinKey pin);
  Task<Result<std::string>> try_pin(std::string name, Pin pin);
  Task<Result<>> write_pin(std::string artifact, Pin pin);
  Result<> check_not_pinned(const std::string& artifact, std::string_view layer) const;
  std::optional<LoadSet> load_set_of(const std::string& artifact) const;
  ModelHost* host_of(const std::string& artifact) const;
  void on_closed(const std::string& artifact_name, const RequestReport& report);
  void on_host_changed(ModelHost& host);
  void count_deaths(ModelHost& host);
  void publish_levels(const Model& model);
  void update_gauges();
  void begin_trace(RequestContext& context);
  std::uint64_t trace_seed() const;
  traces::Exporter::World traces_world();
  void set_traces();
  ConfigChange apply(const Config& next);
  Devices::World devices_world();
  DiskLoadPlanner::World load_planner_world();
  StoreWatch::World store_watch_world();
  Task<Result<std::vector<StoreRoot>>> noted_roots();
  Task<Result<FoundReport>> note_found(StoreRoot root, std::vector<FoundModel> models,
                                       FoundExtent extent);
  std::set<std::string> listed_paths() const;
  void retire_nameless();
  Verifier::World verifier_world();
  Result<> check_fetchable(const NamedModel& model) const;
  Result<> open_repairs(const NamedModel& model,
                        const std::vector<ModelCheck::BadParts>& rotten) const;
  Task<Result<Bytes>> repair(NamedModel model, ModelCheck::Checked checked,
                             std::shared_ptr<VerifyRun> run);
  Task<Result<Bytes>> fetch_bad(NamedModel model, std::shared_ptr<VerifyRun> run);
  struct Missing {
    std::unique_ptr<PullWaiter> pull;
    LayerSnapshot before;
  };
  Pulls::World pulls_world();
  std::optional<hearth::Origin::File> fetched_from(const std::string& url) const;
  Missing missing_files(const std::string& name);
  std::unique_ptr<PullWaiter> fetch_again(const NamedModel& named);
  Task<Result<>> bring_files(std::shared_ptr<RequestRun> run, std::string name);
  Task<Result<>> bring_files_now(std::string name);
  Task<Result<>> install(PulledModel model);
  Task<void> replace(std::string artifact, std::vector<std::string> paths);
  Task<void> drop_files(std::vector<std::string> paths);
  void add_share(ModelStatus& status, const NamedModel& named) const;
  bool is_shared(const Artifact::Shard& file, const std::string& artifact) const;
  Task<Result<ModelStatus>> cool_artifact(std::string name);
  Task<Result<ArtifactStatus>> note_hashed(std::string artifact, std::vector<std::string> sha256);
  void touch(const std::string& artifact);

  // What has been told on of a host and its workers.
  struct HostSeen {
    std::uint64_t deaths = 0;
    bool replaced = true;  // the last death has been followed by a new worker
    WeightsLevel level = WeightsLevel::kNone;
    bool files_written = false;
  };

  World world_;
  Config config_;
  Random random_;
  TimePoint started_;
  Catalogue catalogue_;  // used on catalogue_pool_ only
  History history_;      // used on history_pool_ only
  BlobStore blobs_{world_.files, config_.data + "/models"};
  HashNotes hash_notes_{world_.files, config_.data + "/models/verify"};
  Pool catalogue_pool_;  // the pools are below what their jobs use: they end first
  Pool history_pool_;
  Pool disk_pool_;
  Pool process_pool_;  // apart: a worker's end is told at once, however long the disk is read
  Metrics metrics_;
  RateNotes rate_notes_{world_.files, config_.data + "/rates.json"};
  EventBus events_;
  std::optional<KeyStore> key_store_;  // used on key_pool_ only
  KeyRing keys_;                       // snapshot of it
  AccessRules access_;
  Devices devices_;
  DiskLoadPlanner load_planner_{load_planner_world()};
  CompiledRoom compiled_;
  std::unique_ptr<PrefixDesk> prefix_;  // null: the layer is switched off
  LayerSet layers_;
  Pressure pressure_;
  std::unique_ptr<HostLevels> host_levels_;  // these two outlive models_
  std::unique_ptr<LevelRoom> levels_;
  Pool services_pool_{"services", 1};
  Pool ahead_pool_{"ahead", 1, Pool::Priority::kIdle};
  HabitFile habits_;
  std::unique_ptr<ProtectedServices> protected_;
  std::unique_ptr<PrewarmRunner> prewarm_;
  std::unique_ptr<WarmKeeper> warmth_;
  std::vector<NamedModel> named_;                         // snapshot of the catalogue, by name
  std::map<std::string, std::unique_ptr<Model>> models_;  // by artifact id
  std::map<std::string, HostSeen> hosts_seen_;            // by artifact id
  std::map<std::string, TimePoint> touched_;              // by artifact id
  std::string cpu_variant_;                               // see ModelHost::World
  std::set<std::string> changed_files_;                   // artifacts that took another's place
  Gate tasks_;
  Gate requests_;
  Notify stop_asked_;
  Keeper keeper_;
  Pins pins_;
  std::set<std::string> warned_of_;  // names whose options do not hold
  SharedProgress warm_ups_;          // of pages, all together: nobody looks, but stop() ends them
  Pool store_pool_{"stores", 1};     // apart: a store may lie on a machine that does not answer
  StoreWatch store_watch_;
  bool stopping_ = false;
  bool has_computed_ = false;  // since computes() was asked last
  std::uint64_t next_request_ = 1;
  bool dropping_old_parts_ = false;
  Pool key_pool_{"keys", 1};       // apart: a key ends at once, however long a model is hashed
  Pool config_pool_{"config", 1};  // one by one: what was read last holds
  Pool hash_pool_{"hash", 1, Pool::Priority::kIdle};
  Verifier verifier_{verifier_world()};
  Pulls pulls_{pulls_world()};
  Pool trace_pool_{"traces", 1};  // apart: a collector may not answer
  traces::Tracer tracer_{trace_seed()};
  traces::Exporter traces_{traces_world()};
  ModuleSet modules_;
  ModuleKeeper module_keeper_{module_world()};
  // Those that somebody asked for; a run belongs to its reply and its task.
  std::vector<std::weak_ptr<RequestRun>> under_way_;
};

}  // namespace hearth::front
