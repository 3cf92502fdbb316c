// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/event_loop.h"
#include "base/files.h"
#include "base/pool.h"
#include "base/process.h"
#include "base/result.h"
#include "base/sync.h"
#include "front/admission.h"
#include "front/file_watch.h"
#include "front/load_gate.h"
#include "front/load_plan.h"
#include "front/prefix_plans.h"
#include "front/worker.h"
#include "layers/weights/hollow_policy.h"
#include "layers/weights/weights_layer.h"
#include "wire/messages.h"

namespace hearth::front {

enum class WeightsLevel { kNone, kHollow, kLoading, kResident, kUnloading };
std::string_view name_of(WeightsLevel level);

// The last load of a model, as the requests that waited for it report it.
struct LoadRecord {
  std::uint64_t number = 0;   // 1, 2, ... for one host
  std::uint64_t request = 0;  // that began it; 0: none did
  WeightsCause cause = WeightsCause::kFirstUse;
  wire::LoadedMessage loaded;
  Duration length{};  // from asking the worker to its answer
};

// What a request finds in its inbox while a worker has it in hand.
struct WorkerLost {
  std::string reason;
};
struct WeightsLoaded {};
struct CancelAsked {};
using InboxItem = std::variant<wire::Frame, wire::ProgressMessage, PlaceInLine, Error,
                               WeightsLoaded, WorkerLost, CancelAsked>;
using Inbox = Mailbox<InboxItem>;

struct HostSettings {
  std::string worker_program;  // path of hearth-worker
  wire::LoadOptions options;
  std::vector<std::string> environment = {};  // of workers, beside what all of them get
  int queue_limit = 512;
  Duration hang_limit = std::chrono::seconds{30};
};

struct HostModel {
  std::string artifact;            // id
  std::string name;                // canonical, for messages
  std::vector<std::string> paths;  // shards in order
  std::vector<std::string> adapters = {};
  // What the catalogue says of all these files, in order, adapters last; empty: not known.
  std::vector<FileInfo> known = {};
};

// Everything the front keeps for one model: its worker process, the level of its weights, the queue
// of requests, the last load. A load belongs to the host, not to the request that asked first:
// whoever leaves, it goes on, and everyone who waits gets the same one.
//
// Level moves: none -spawn-> hollow -load-> loading -> resident -unload-> unloading -> hollow, and
// from anywhere to none when the process dies. Belongs to the loop. Call stop() before destroying
// it.
class ModelHost {
 public:
  struct World {
    EventLoop& loop;
    Pool& pool;
    const Files& files;
    Processes& processes;
    LoadPlanner* planner = nullptr;  // null: every load goes by LoadMessage's defaults
    LoadGate* gate = nullptr;        // null: there is room for all
    Pool* disk = nullptr;            // for looks at files, which may wait; null: `pool`
    OpenNotices notices = kernel_notices;
    // The CPU variant that the first worker found to be the best here; later ones are told, and
    // look no further. Shared by all hosts; null: each worker looks for itself.
    std::string* variant = nullptr;
    PrefixPlans* prefixes = nullptr;  // null: no prompt state outlives a worker
  };
  // Told about every change of level and of load progress; may be empty.
  using OnChange = std::function<void(ModelHost&)>;

  ModelHost(World world, HostModel model, HostSettings settings, OnChange on_change);
  ~ModelHost();
  ModelHost(const ModelHost&) = delete;
  ModelHost& operator=(const ModelHost&) = delete;

  const HostModel& model() const { return model_; }
  const wire::LoadOptions& options() const { return settings_.options; }
  void rename(std::string name) { model_.name = std::move(name); }
  void set_paths(std::vector<std::string> paths, std::vector<std::string> adapters) {
    model_.paths = std::move(paths);
    model_.adapters = std::move(adapters);
  }
  void set_known(std::vector<FileInfo> known) { model_.known = std::move(known); }
  Admission& admission() { return admission_; }
  const Admission& admission() const { return admission_; }

  // Returns when there is a hollow (or warmer) worker. Everyone who waits shares one spawn. Errors:
  // kCancelled once *cancelled (polled at every change), kCorrupt or kUnavailable when the worker
  // refused the file or died twice over it.
  Task<Result<>> ensure_worker(const bool* cancelled);

  // Starts the load unless it is running or done; during an unload, afterwards, if somebody still
  // waits then. `request`: who wants them; 0: no request, but whoever `load_for` says. Needs a
  // worker.
  void want_weights(std::uint64_t request, LoadFor load_for = LoadFor::kRequest);

  // Gives up a load that nobody waits for; else nothing. One that has not got further than its plan
  // is dropped at once, another ends when the worker says so. The worker stays hollow. Whoever
  // wants the weights meanwhile gets them loaded anew, and is told of no failure.
  void cancel_load();

  // ensure_worker, want_weights, and waits for the end of the load.
  Task<Result<>> ensure_resident(const bool* cancelled, LoadFor load_for = LoadFor::kAsked);

  // Lets admitted requests end, then makes the worker hollow; requests that come meanwhile wait,
  // and load again. A load that nobody waits for is given up. Nothing to do when nothing is
  // resident. `check` is asked once all have left: an error of it is returned, and the weights
  // stay.
  using Check = std::function<Result<>()>;
  Task<Result<>> unload(WeightsCause cause, Check check = {});

  // Has the worker write its repacked weights into `file`, which is empty, beside what else it
  // does. `content`: of the model, for the key. One at a time. Errors: kConflict (one is under way,
  // nothing is resident, or the weights went meanwhile), kUnavailable (the worker left, or could
  // not write it: the message says why).
  Task<Result<wire::StoredMessage>> store_repack(Fd file, std::string content);

  // Ends a hollow worker that nobody uses, and returns when it is gone; else nothing.
  Task<void> end_hollow();
  // What the worker holds, if it is hollow and nobody uses it. The model's part is left open.
  std::optional<HollowWorker> hollow_worker() const;

  // What its worker's evaluation may take from now on, and any later one's.
  void give_way(wire::GiveWayMessage share);

  // Has an idle worker write down what it still holds of prompts, as an unload does. Returns soon,
  // whether or not it could.
  Task<void> settle();
  // Ends the worker process as well.
  Task<void> stop();

  // --- a request in the worker's hands ---
  // Frames with `request` go to `inbox` until detach(). A lost worker tells every inbox and forgets
  // it.
  void attach(std::uint64_t request, Inbox& inbox);
  void detach(std::uint64_t request);
  void send(wire::Frame frame);
  int attached() const { return static_cast<int>(inboxes_.size()); }
  // Somebody is in or waits.
  bool is_busy() const;
  // Whoever waited when the weights came has been served. Until then they are not taken away, so
  // that no load is for nothing.
  bool has_served_its_turn() const { return !is_busy() || admission_.left() >= turn_until_; }

  // For a reply that is about to end: whether the worker's files are what they were when it opened
  // them. Errors: kUnavailable; the worker has been given up then.
  Task<Result<>> check_files();

  // A look at the model's names and files, in two steps: begin, look, and say that they are right.
  // What the worker has open may still have been written to: then it is given up.
  std::uint64_t begin_look();
  void end_look(std::uint64_t begun);
  // false: somebody should look before the worker is used.
  bool files_trusted() { return watch_ != nullptr && watch_->trusted(); }
  // The worker was lost, or is being given up, because its files were written to. Until the next.
  bool files_written() const { return files_written_; }

  // Kills a worker that sent what it should not have; its requests are told that it was lost.
  void poison(std::string why);

  // Wakes whoever waits in this host, to look at its conditions again (a cancelled flag, say).
  void poke() { changed_.notify_all(); }

  // --- what is known, for planning and for people ---
  WeightsLevel level() const { return level_; }
  LoadFor load_for() const { return load_for_; }  // of the last load
  WeightsCause weights_cause() const { return weights_cause_; }
  double load_fraction() const { return load_fraction_; }
  bool has_worker() const { return worker_ != nullptr && ready_.has_value(); }
  int pid() const { return worker_ ? worker_->pid() : 0; }
  std::optional<TimePoint> worker_started() const;
  const std::optional<wire::ReadyMessage>& ready() const { return ready_; }
  const std::optional<LoadRecord>& last_load() const { return last_load_; }
  const wire::HeartbeatMessage& heartbeat() const { return heartbeat_; }
  const std::vector<Stage>& spawn_stages() const { return spawn_stages_; }
  std::uint64_t spawns() const { return spawns_; }
  std::uint64_t deaths() const { return deaths_; }
  // Of its worker's memory, what the weights and all that came with them take.
  Bytes load_held() const;
  int context_cells() const { return context_cells_; }
  int live_tokens() const { return live_tokens_; }
  void note_cells(int context, int live) {
    context_cells_ = context;
    live_tokens_ = live;
  }
  // Somebody wants it tried again, whatever happened before.
  void forgive() {
    failed_starts_ = 0;
    gave_up_.reset();
  }
  // The last refusal of a load or spawn; empty when the last one went well.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  bool usable() const;  // ready, and not on its way out
  Task<Result<>> give_back(WeightsCause cause, Check check);
  Task<void> spawn_worker();
  Task<void> supervise(Worker* worker);
  Task<void> watch(std::uint64_t spawn);
  void on_frame(wire::Frame frame);
  void on_blocks(const wire::Frame& frame);
  void lend_arena();
  void on_host_frame(const wire::Frame& frame);
  void on_ready(const wire::Frame& frame);
  void on_loaded(const wire::Frame& frame);
  void note_hand_over(std::vector<Stage>& stages) const;
  void on_failed(const wire::Frame& frame);
  void on_unloaded();
  void on_load_given_up();
  void load_if_wanted();
  void on_progress(const wire::Frame& frame);
  void on_stored(const wire::Frame& frame);
  Task<void> begin_load();
  Task<Result<>> enter_gate(std::uint64_t plan);
  void drop_plan();
  void refuse_load(Error why);
  Task<Result<>> drain_for_others(const Check& check);
  void on_lost(const ExitStatus& status);
  std::string hang_note() const;
  Duration hang_limit() const;
  void note_failed_start(const ExitStatus& status, const std::string& how);
  bool note_written();
  void set_level(WeightsLevel level);
  void changed();

  World world_;
  HostModel model_;
  HostSettings settings_;
  OnChange on_change_;
  Admission admission_;
  Notify changed_;
  Gate tasks_;

  std::unique_ptr<Worker> worker_;
  std::shared_ptr<FileWatch> watch_;  // shared with a look that is under way in a pool
  bool files_written_ = false;
  HollowWorker held_;        // of this worker: `fresh` and `held_device`
  bool load_begun_ = false;  // likewise: it is not fresh any more
  bool spawning_ = false;
  bool stopping_ = false;
  bool load_wanted_ = false;  // by a request, while the weights or a load are on their way out
  int load_waiters_ = 0;      // in ensure_resident()
  std::uint64_t load_begun_by_ = 0;
  LoadFor load_for_ = LoadFor::kRequest;
  WeightsLevel level_ = WeightsLevel::kNone;
  WeightsCause weights_cause_ = WeightsCause::kFirstUse;
  double load_fraction_ = 0;
  TimePoint load_asked_;
  TimePoint last_sign_of_work_;
  std::optional<wire::ReadyMessage> ready_;
  std::optional<LoadRecord> last_load_;
  std::unique_ptr<LoadLeave> leave_;    // while weights are resident or on their way in
  std::unique_ptr<DiskTicket> ticket_;  // while a load reads
  bool planning_ = false;               // a load waits for its plan
  std::uint64_t plans_ = 0;             // number of the last plan; an older one counts no more
  bool cancel_sent_ = false;            // of the load under way
  std::uint64_t given_up_ = 0;          // loads that were cancelled
  std::vector<Stage> planned_;          // of that: the wait for a device, the look at files
  bool storing_ = false;
  std::optional<Result<wire::StoredMessage>> stored_;
  std::vector<Stage> spawn_stages_;
  wire::HeartbeatMessage heartbeat_;
  std::optional<Error> failure_;
  struct GivenUp {
    TimePoint at;
    Error why;
  };
  std::optional<GivenUp> gave_up_;
  int failed_starts_ = 0;  // deaths while opening or loading, since the last load that went well
  std::unordered_map<std::uint64_t, Inbox*> inboxes_;
  std::uint64_t spawns_ = 0;
  std::uint64_t deaths_ = 0;
  std::uint64_t loads_ = 0;
  wire::GiveWayMessage share_;
  Bytes hollow_own_;              // private memory when the load began
  Bytes most_held_;               // load_held(), as it was seen at most
  std::uint64_t turn_until_ = 0;  // Admission::left() by then
  int context_cells_ = 0;
  int live_tokens_ = 0;
};

}  // namespace hearth::front
