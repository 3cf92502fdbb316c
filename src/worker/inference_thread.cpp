// SPDX-License-Identifier: Apache-2.0
#include "worker/inference_thread.h"

#include <malloc.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <utility>

#include "base/log.h"
#include "worker/heartbeat.h"

namespace hearth::worker {
namespace {

TimePoint now() { return Clock::real().now(); }

// A rest is looked at again after so long, for whoever watches whether anything goes on.
constexpr std::chrono::seconds kRestPiece{1};
constexpr std::chrono::milliseconds kShortRest{10};

// As far as the file tells; where it does not, all that is stored of windows is read.
int window_of(const engine::Vocabulary& vocabulary) {
  const auto told = vocabulary.arch_value("attention.sliding_window");
  int window = 0;
  const char* end = told ? told->data() + told->size() : nullptr;
  if (told && std::from_chars(told->data(), end, window).ec == std::errc{} && window > 0) {
    return window;
  }
  return std::numeric_limits<int>::max();
}

bool is_planned(const RequestPtr& request) { return !request->plan_prefix || request->prefix; }

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

}  // namespace

InferenceThread::InferenceThread(const OpenedModel& opened, LoadedModel::Around around)
    : opened_{opened}, around_{with_calls(std::move(around))}, thread_{[this] { run(); }} {}

LoadedModel::Around InferenceThread::with_calls(LoadedModel::Around around) {
  around.wake = [this] { queue_.push(Wake{}); };
  around.on_kept = [this](const BlockKeeper::Kept& kept) {
    {
      const std::lock_guard lock{kept_mutex_};
      kept_.push_back(kept);
    }
    queue_.push(Wake{});
  };
  return around;
}

InferenceThread::~InferenceThread() {
  around_.abort.stop = true;
  queue_.close();
  thread_.join();
}

void InferenceThread::run() {
  while (!around_.abort.stop) {
    await_work();
    while (auto work = queue_.try_pop()) handle(std::move(*work));
    take_kept();
    try_unload();
    admit_waiting();
    if (computes()) {
      pace_keeping();
      step();
    }
    keep_blocks();
    tell_gauges();
  }
}

// Nothing comes once the process is to end.
void InferenceThread::await_work() {
  std::optional<Work> work;
  if (!has_something_to_compute()) {
    work = queue_.pop();
  } else if (const TimePoint until = around_.cpu.rest_until(); now() < until) {
    work = queue_.pop_until(std::min<TimePoint>(until, now() + kRestPiece));
    // Whoever rests does not hang.
    around_.gauges.steps.fetch_add(1, std::memory_order_relaxed);
  }
  if (work) handle(std::move(*work));
}

// What is over or cancelled ends also while there is a rest.
void InferenceThread::step() {
  const TimePoint begin = now();
  if (begin < around_.cpu.rest_until()) return model_->scheduler().finish_cancelled();
  model_->scheduler().step();
  around_.cpu.worked(begin, now());
}

bool InferenceThread::has_something_to_compute() const {
  if (!model_) return false;
  const bool idle = !opened_.generates || model_->scheduler().idle();
  if (idle && std::ranges::any_of(waiting_, is_planned)) return true;
  return computes() && (model_->scheduler().can_step() || model_->keeping().has_work());
}

// ---- blocks beyond cells ----

void InferenceThread::plan(RequestPtr request, std::shared_ptr<PrefixWork> work) {
  if (!has_weights_) begin_reading(*work, window_of(*opened_.vocabulary), around_.wake);
  queue_.push(Plan{std::move(request), std::move(work)});
}

void InferenceThread::take_kept() {
  std::vector<BlockKeeper::Kept> kept;
  {
    const std::lock_guard lock{kept_mutex_};
    kept = std::exchange(kept_, {});
  }
  if (!computes()) return;
  for (const BlockKeeper::Kept& each : kept) model_->keeping().note_kept(each);
}

void InferenceThread::pace_keeping() {
  if (model_->scheduler().can_step() && !model_->keeping().is_overdue(now())) {
    model_->keeping().make_way();
  } else {
    model_->keeping().go_on();
  }
}

// One of them, where there is nothing better to do.
void InferenceThread::keep_blocks() {
  if (!computes()) return;
  pace_keeping();
  model_->keeping().tell_finished();
  if (!model_->keeping().has_work()) return;
  if (!model_->scheduler().can_step() || model_->keeping().is_overdue(now()))
    model_->keeping().work();
}

// Before the cells go.
void InferenceThread::keep_all_blocks() {
  if (!computes()) return;
  model_->keeping().finish();
  take_kept();
  model_->keeping().tell_finished();
}

// It is over before it had cells: nothing of it will be kept.
void InferenceThread::drop_plan(const Request& request) {
  if (!request.prefix || request.prefix->keep.empty()) return;
  around_.replies.send(wire::FrameType::kBlocks, request.id, wire::BlocksMessage{});
}

void InferenceThread::handle(Work work) {
  std::visit(Overloaded{
                 [this](Load& load) { handle_load(std::move(load)); },
                 [this](const LoadFailed& failed) { handle_failed(failed); },
                 [this](Store& store) { handle_store(std::move(store)); },
                 [this](const Stored& stored) { handle_stored(stored); },
                 [this](const Unload& unload) { unload_ = unload; },
                 [this](Plan& plan) {
                   plan.request->prefix = std::move(plan.work);
                   if (plan.request->answered) drop_plan(*plan.request);
                 },
                 [this](ForgetCells) {
                   if (computes()) model_->forget_cells();
                 },
                 [this](Wake) { drop_cancelled(); },
                 [this](Hurry) {
                   if (model_) model_->hurry();
                 },
                 [this](RequestPtr& request) { waiting_.push_back(std::move(request)); },
             },
             work);
}

void InferenceThread::refuse_load(const Load& load) {
  around_.replies.send_error(load.frame,
                             Error{ErrorCode::kConflict, "the weights are loaded already"});
}

void InferenceThread::load(std::uint64_t frame, wire::LoadMessage message,
                           std::optional<Fd> stored) {
  flags_.give_up = false;
  const bool wanted = around_.gauges.active.load(std::memory_order_relaxed) > 0;
  flags_.idle = message.idle && !wanted;
  queue_.push(Load{frame, std::move(message), std::move(stored)});
}

void InferenceThread::handle_load(Load load) {
  try_unload();
  if (model_) return refuse_load(load);
  // Requests may have come in meanwhile; what they need is made at once rather than grown to.
  std::size_t prompt = 0;
  while (auto work = queue_.try_pop()) {
    if (std::holds_alternative<Load>(*work)) {
      refuse_load(std::get<Load>(*work));
    } else {
      handle(std::move(*work));
    }
  }
  for (const RequestPtr& request : waiting_) prompt = std::max(prompt, request->prompt.size());
  const std::uint64_t number = ++loads_;
  load_frame_ = load.frame;
  has_weights_ = true;
  around_.abort.no_weights = false;
  LoadedModel::Load asked;
  asked.frame = load.frame;
  asked.message = std::move(load.message);
  asked.stored = std::move(load.stored);
  asked.prompt = static_cast<int>(prompt);
  asked.on_failed = [this, number](Error error) {
    queue_.push(LoadFailed{number, std::move(error)});
  };
  auto loaded = LoadedModel::load(opened_, around_, std::move(asked), flags_);
  if (!loaded) {
    has_weights_ = false;
    around_.abort.no_weights = false;
    return end_all(loaded.error());
  }
  model_ = std::move(*loaded);
}

// Everyone who waits for this load, or is computing with what there is of it, learns that the rest
// does not come.
void InferenceThread::end_all(const Error& error) {
  around_.replies.send_error(load_frame_, error);
  if (model_ && opened_.generates) model_->scheduler().fail_all(error);
  for (const RequestPtr& request : std::exchange(waiting_, {})) {
    around_.replies.send_error(request->id, error);
    request->answered = true;
    drop_plan(*request);
  }
}

void InferenceThread::handle_failed(const LoadFailed& failed) {
  if (failed.load != loads_ || !model_) return;
  end_all(failed.error);
  // A device that does not answer holds its readers; the end of the process lets them go.
  if (model_->stuck()) std::_Exit(EXIT_FAILURE);
  drop_model();
  around_.abort.no_weights = false;
}

void InferenceThread::handle_store(Store store) {
  const std::uint64_t frame = store.frame;
  Result<> begun = fail(ErrorCode::kConflict, "nothing is loaded");
  if (model_) {
    begun = model_->store(std::move(store.content), std::move(store.file),
                          [this, frame, number = loads_](RepackStore::Stored what) {
                            queue_.push(Stored{number, frame, std::move(what)});
                          });
  }
  if (begun) {
    storing_ = frame;
    return;
  }
  wire::StoredMessage message;
  message.error = begun.error().message();
  around_.replies.send(wire::FrameType::kStored, frame, message);
}

// The weights, and what is being done with them.
void InferenceThread::drop_model() {
  keep_all_blocks();
  model_.reset();
  has_weights_ = false;
  if (storing_) {
    wire::StoredMessage message;
    message.error = "the model was unloaded meanwhile";
    around_.replies.send(wire::FrameType::kStored, *std::exchange(storing_, {}), message);
  }
  ::malloc_trim(0);
  tell_gauges();
}

void InferenceThread::handle_stored(const Stored& stored) {
  if (!model_ || stored.load != loads_) return;  // answered when the model went
  storing_.reset();
  model_->adopt(stored.what);
  around_.replies.send(wire::FrameType::kStored, stored.frame, stored.what.message);
}

void InferenceThread::try_unload() {
  if (!unload_) return;
  if (model_ && opened_.generates && !model_->scheduler().idle()) return;
  drop_model();
  send_heartbeat(around_.replies, around_.gauges);  // whoever asked wants to see what came back
  around_.replies.send_empty(wire::FrameType::kUnloaded, std::exchange(unload_, {})->frame);
}

void InferenceThread::drop_cancelled() {
  std::erase_if(waiting_, [this](const RequestPtr& request) {
    if (!request->cancelled) return false;
    wire::DoneMessage done;
    done.reason = "cancelled";
    done.prompt_tokens = static_cast<int>(request->prompt.size());
    around_.replies.send(wire::FrameType::kDone, request->id, done);
    request->answered = true;
    drop_plan(*request);
    return true;
  });
}

void InferenceThread::admit_waiting() {
  drop_cancelled();
  if (!model_ || unload_) return;
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const RequestPtr request = *next;
    if (!is_planned(request)) {
      ++next;
      continue;
    }
    if (request->kind == RequestKind::kEmbed) {
      if (embed(request) == Embedded::kNoWeights) return;  // all are told of it in a moment
    } else if (!model_->scheduler().admit(request, std::max(request->tokenized, model_->ready()))) {
      ++next;  // a slot is missing; an embedding further back needs none
      continue;
    }
    next = waiting_.erase(next);
  }
}

InferenceThread::Embedded InferenceThread::embed(const RequestPtr& request) {
  const TimePoint start = now();
  const TimePoint ready = std::max(request->tokenized, model_->ready());
  around_.abort.cancelled = &request->cancelled;
  const auto vectors = vectors_of(*request);
  around_.abort.cancelled = nullptr;
  if (!vectors && vectors.error().code() == ErrorCode::kCancelled) {
    if (!request->cancelled && around_.abort.no_weights) return Embedded::kNoWeights;
    wire::DoneMessage done;
    done.reason = "cancelled";
    around_.replies.send(wire::FrameType::kDone, request->id, done);
    return Embedded::kAnswered;
  }
  if (!vectors) {
    around_.replies.send_error(request->id, vectors.error());
    return Embedded::kAnswered;
  }
  wire::EmbeddedMessage message;
  message.vectors = *vectors;
  message.prompt_tokens = static_cast<int>(request->prompt.size());
  message.stages.push_back({StageKind::kQueue, ready, start, {}});
  message.stages.push_back({StageKind::kPrefill, start, now(), {}});
  around_.replies.send(wire::FrameType::kEmbedded, request->id, message);
  return Embedded::kAnswered;
}

Result<std::vector<std::vector<float>>> InferenceThread::vectors_of(const Request& request) {
  const auto embedder = model_->embedder();
  if (!embedder) return Failed{embedder.error()};
  std::vector<std::vector<float>> vectors;
  for (const auto& input : request.inputs) {
    if (!rest()) return fail(ErrorCode::kCancelled, "cancelled");
    const TimePoint begin = now();
    auto vector = (*embedder)->embed(input);
    around_.cpu.worked(begin, now());
    if (!vector) return Failed{std::move(vector).error()};
    vectors.push_back(std::move(*vector));
    around_.gauges.steps.fetch_add(1, std::memory_order_relaxed);
  }
  return vectors;
}

// Between the inputs of one request. False: it is cancelled.
bool InferenceThread::rest() const {
  while (!around_.abort.set() && now() < around_.cpu.rest_until()) {
    std::this_thread::sleep_for(kShortRest);
    around_.gauges.steps.fetch_add(1, std::memory_order_relaxed);
  }
  return !around_.abort.set();
}

void InferenceThread::tell_gauges() {
  const int live = model_ ? model_->live_tokens() : 0;
  around_.gauges.live_tokens.store(live, std::memory_order_relaxed);
  around_.gauges.set_slots(model_ ? model_->slots() : Gauges::Slots{});
}

}  // namespace hearth::worker
