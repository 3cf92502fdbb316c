// SPDX-License-Identifier: Apache-2.0
#include "front/model_host.h"

#include <signal.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/log.h"
#include "front/worker_environment.h"

namespace hearth::front {
namespace {

using wire::Frame;
using wire::FrameType;

// A worker that dies over the same file twice in a row will die a third time: for a while the
// answer is given without trying, so that a client which asks again and again costs two processes a
// minute.
constexpr int kSpawnAttempts = 2;
constexpr std::chrono::seconds kGiveUpFor{60};
constexpr std::chrono::seconds kToSettle{2};
// Hang limits for one that gives way to others.
constexpr int kPatienceWithTheModest = 20;

// Signals by which the engine's own code ends, over a file that it cannot take. SIGKILL is not
// among them: that is somebody else, the kernel's want of memory most often.
bool is_crash(const ExitStatus& status) {
  return status.signal == SIGSEGV || status.signal == SIGABRT || status.signal == SIGBUS ||
         status.signal == SIGFPE || status.signal == SIGILL;
}

struct Spawned {
  std::unique_ptr<Process> process;
  WatchedFiles files;
};

}  // namespace

std::string_view name_of(WeightsLevel level) {
  static constexpr std::array<std::string_view, 5> kNames{"none", "hollow", "loading", "resident",
                                                          "unloading"};
  return kNames[static_cast<std::size_t>(level)];
}

ModelHost::ModelHost(World world, HostModel model, HostSettings settings, OnChange on_change)
    : world_{world},
      model_{std::move(model)},
      settings_{std::move(settings)},
      on_change_{std::move(on_change)},
      admission_{world_.loop, settings_.options.parallel, settings_.queue_limit},
      changed_{world_.loop},
      tasks_{world_.loop} {}

ModelHost::~ModelHost() = default;

std::optional<TimePoint> ModelHost::worker_started() const {
  if (!worker_) return std::nullopt;
  return worker_->started();
}

void ModelHost::changed() {
  changed_.notify_all();
  if (on_change_) on_change_(*this);
}

void ModelHost::set_level(WeightsLevel level) {
  if (level_ == level) return;
  level_ = level;
  changed();
}

// ---- spawn ----

bool ModelHost::usable() const { return has_worker() && !worker_->closing(); }

Task<Result<>> ModelHost::ensure_worker(const bool* cancelled) {
  if (gave_up_ && world_.loop.now() - gave_up_->at < kGiveUpFor) co_return Failed{gave_up_->why};
  for (int attempt = 0; attempt < kSpawnAttempts; ++attempt) {
    if (usable()) co_return Result<>{};
    if (stopping_)
      co_return fail(ErrorCode::kUnavailable,
                     "the server is stopping, or the model is being replaced; please ask again");
    if (!spawning_ && !worker_) world_.loop.spawn(spawn_worker());
    while (!*cancelled && !usable() && (spawning_ || worker_)) co_await changed_.wait();
    if (*cancelled) co_return fail(ErrorCode::kCancelled, "cancelled while the worker started");
    if (usable()) co_return Result<>{};
    // The worker said why, or there is no such file: trying again gives the same answer.
    if (failure_ && failure_->code() != ErrorCode::kUnavailable) break;
  }
  if (failure_) co_return Failed{*failure_};
  co_return fail(ErrorCode::kUnavailable, "no worker could be started");
}

Task<void> ModelHost::spawn_worker() {
  const auto pass = tasks_.enter();
  if (!pass) co_return;
  spawning_ = true;
  failure_.reset();
  const TimePoint begun = world_.loop.now();
  const ProcessSpec spec{{settings_.worker_program}, worker_environment(settings_.environment)};
  auto job = [this, spec]() -> Result<Spawned> {
    std::vector<std::string> paths = model_.paths;
    paths.insert(paths.end(), model_.adapters.begin(), model_.adapters.end());
    Result<WatchedFiles> files = open_watched(world_.files, paths, model_.known, world_.notices);
    if (!files) return Failed{std::move(files).error()};
    Result<std::unique_ptr<Process>> process = world_.processes.spawn(spec);
    if (!process) return Failed{std::move(process).error()};
    return Spawned{std::move(*process), std::move(*files)};
  };
  auto spawned = co_await world_.pool.run(world_.loop, std::move(job));
  spawning_ = false;
  if (!spawned) {
    failure_ = spawned.error();
    log::warn("worker.spawn_failed", {{"model", model_.name}, {"reason", failure_->message()}});
    changed();
    co_return;
  }
  ++spawns_;
  ready_.reset();
  watch_ = std::move(spawned->files.watch);
  files_written_ = false;
  held_ = {};
  load_begun_ = false;
  spawn_stages_ = {Stage{StageKind::kSpawn, begun, begun, Bytes{}}};
  last_sign_of_work_ = world_.loop.now();
  worker_ = std::make_unique<Worker>(world_.loop, world_.pool, std::move(spawned->process),
                                     [this](Frame frame) { on_frame(std::move(frame)); });
  log::info("worker.spawned", {{"model", model_.name}, {"pid", worker_->pid()}});
  world_.loop.spawn(watch(spawns_));
  wire::OpenMessage message;
  message.model = model_.name;
  message.options = settings_.options;
  if (world_.variant != nullptr) message.backend = *world_.variant;
  message.adapters = static_cast<int>(model_.adapters.size());
  Frame open = wire::make_frame(FrameType::kOpen, 0, wire::encode(message));
  open.descriptors = std::move(spawned->files.files);
  worker_->send(std::move(open));
  if (stopping_) worker_->close();
  // Under this task's own pass: a stop() that came during the spawn lets no new task in, and waits.
  co_await supervise(worker_.get());
}

Task<void> ModelHost::supervise(Worker* worker) {
  const ExitStatus status = co_await worker->run();
  on_lost(status);
}

// A worker that has work and shows no step for the hang limit is stuck in a call that will not
// return.
Task<void> ModelHost::watch(std::uint64_t spawn) {
  const auto pass = tasks_.enter();
  if (!pass) co_return;  // stop() came during the spawn: the worker is told to leave anyway
  while (worker_ && spawns_ == spawn) {
    const bool busy = !ready_ || (level_ == WeightsLevel::kLoading && !planning_) ||
                      level_ == WeightsLevel::kUnloading || !inboxes_.empty();
    if (!busy || planning_) last_sign_of_work_ = world_.loop.now();
    if (world_.loop.now() - last_sign_of_work_ > hang_limit()) {
      worker_->kill(hang_note());
    }
    (void)co_await changed_.wait_until(world_.loop.now() + settings_.hang_limit / 10);
  }
}

// One that gives way gets what others leave, which may be little for long.
Duration ModelHost::hang_limit() const {
  return share_.gives_up() ? settings_.hang_limit * kPatienceWithTheModest : settings_.hang_limit;
}

std::string ModelHost::hang_note() const {
  std::string note =
      "it made no progress for " + std::to_string(hang_limit() / std::chrono::seconds{1}) + " s";
  if (level_ == WeightsLevel::kLoading) {
    note += ", at " + std::to_string(static_cast<int>(100 * load_fraction_)) + " % of the load";
  }
  return note;
}

void ModelHost::on_lost(const ExitStatus& status) {
  const bool asked = worker_->closing() && worker_->death_note().empty();
  const std::string how = worker_->death_note().empty() ? describe(status) : worker_->death_note();
  const bool starting = !ready_ || level_ == WeightsLevel::kLoading;
  const bool killed_by_us = !worker_->death_note().empty();
  const std::string doing = ready_ ? "loaded" : "opened";
  worker_.reset();
  ready_.reset();
  load_fraction_ = 0;
  heartbeat_ = {};
  context_cells_ = 0;
  live_tokens_ = 0;
  load_wanted_ = false;
  cancel_sent_ = false;
  leave_.reset();
  ticket_.reset();
  drop_plan();
  if (storing_) stored_ = fail(ErrorCode::kUnavailable, "the worker left");
  if (!note_written() && !asked) {
    ++deaths_;
    weights_cause_ = WeightsCause::kWorkerDied;
    log::warn("worker.died", {{"model", model_.name}, {"how", how}});
    // A kill from outside says nothing about the file; ours, for a hang, does.
    if (starting && (killed_by_us || status.signal != SIGKILL)) ++failed_starts_;
    if (starting) note_failed_start(status, "died while it " + doing + " the model: " + how);
  }
  if (world_.prefixes != nullptr) world_.prefixes->worker_lost(model_.artifact);
  for (auto& [request, inbox] : std::exchange(inboxes_, {})) inbox->push(WorkerLost{how});
  level_ = WeightsLevel::kNone;
  changed();
}

void ModelHost::note_failed_start(const ExitStatus& status, const std::string& how) {
  const bool gives_up = failed_starts_ >= kSpawnAttempts;
  if (!failure_) {
    failure_ = Error{gives_up && is_crash(status) ? ErrorCode::kCorrupt : ErrorCode::kUnavailable,
                     "the worker " + how};
  }
  if (gives_up) gave_up_ = GivenUp{world_.loop.now(), *failure_};
}

Task<void> ModelHost::settle() {
  if (level_ != WeightsLevel::kResident || !usable() || !inboxes_.empty()) co_return;
  const TimePoint deadline = world_.loop.now() + kToSettle;
  last_sign_of_work_ = world_.loop.now();
  send(wire::make_frame(FrameType::kUnload, 0, "{}"));
  set_level(WeightsLevel::kUnloading);
  bool in_time = true;
  while (in_time && level_ == WeightsLevel::kUnloading) {
    in_time = co_await changed_.wait_until(deadline);
  }
}

Task<void> ModelHost::stop() {
  stopping_ = true;
  drop_plan();
  if (worker_) worker_->close();
  changed_.notify_all();
  co_await tasks_.close();
}

// ---- requests in the worker's hands ----

Bytes ModelHost::load_held() const {
  const Bytes all = heartbeat_.anonymous + heartbeat_.swapped + heartbeat_.mapped;
  return all - std::min(all, hollow_own_);
}

void ModelHost::give_way(wire::GiveWayMessage share) {
  share_ = share;
  if (ready_) send(wire::make_frame(FrameType::kGiveWay, 0, wire::encode(share_)));
}

bool ModelHost::is_busy() const {
  return admission_.active() > 0 || admission_.waiting() > 0 || !inboxes_.empty();
}

void ModelHost::attach(std::uint64_t request, Inbox& inbox) {
  if (inboxes_.empty()) last_sign_of_work_ = world_.loop.now();
  inboxes_[request] = &inbox;
}

void ModelHost::detach(std::uint64_t request) {
  inboxes_.erase(request);
  // An unload may wait for the last one that a load is for.
  if (inboxes_.empty() && level_ == WeightsLevel::kLoading) changed_.notify_all();
}

void ModelHost::send(Frame frame) {
  if (worker_) worker_->send(std::move(frame));
}

void ModelHost::poison(std::string why) {
  if (worker_) worker_->kill(std::move(why));
}

}  // namespace hearth::front
