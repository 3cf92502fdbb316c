// SPDX-License-Identifier: Apache-2.0
//
// ModelHost's loads: asked for, let in, planned, given up, and given back.
#include <algorithm>
#include <utility>

#include "base/log.h"
#include "front/model_host.h"

namespace hearth::front {
namespace {

using wire::Frame;
using wire::FrameType;

constexpr std::uint64_t kNoRequest = 0;
constexpr std::chrono::milliseconds kLookWhileDraining{500};

}  // namespace

void ModelHost::want_weights(std::uint64_t request, LoadFor load_for) {
  if (!has_worker() || level_ == WeightsLevel::kResident) return;
  const bool going = level_ == WeightsLevel::kUnloading || cancel_sent_;
  if (going || level_ == WeightsLevel::kLoading) {
    load_wanted_ = load_wanted_ || (going && request != kNoRequest);
    if (load_for == LoadFor::kRequest) load_for_ = load_for;
    return;
  }
  load_fraction_ = 0;
  hollow_own_ = heartbeat_.anonymous + heartbeat_.swapped;
  // A beat may be from before the end of an earlier load.
  if (held_.fresh > Bytes{}) hollow_own_ = std::min(hollow_own_, held_.fresh);
  load_begun_by_ = request;
  load_for_ = load_for;
  load_begun_ = true;
  load_asked_ = world_.loop.now();
  last_sign_of_work_ = load_asked_;
  failure_.reset();
  cancel_sent_ = false;
  set_level(WeightsLevel::kLoading);
  if (world_.planner == nullptr && world_.gate == nullptr) {
    send(wire::make_frame(FrameType::kLoad, 0, wire::encode(wire::LoadMessage{})));
    return;
  }
  planning_ = true;
  world_.loop.spawn(begin_load());
}

Task<void> ModelHost::begin_load() {
  const auto pass = tasks_.enter();
  if (!pass) co_return;
  const std::uint64_t number = ++plans_;
  if (world_.gate != nullptr) {
    Result<> entered = co_await enter_gate(number);
    if (plans_ != number) co_return;  // its load was given up, or its worker is gone
    if (!entered) {
      refuse_load(std::move(entered).error());
      co_return;
    }
  }
  const TimePoint entered = world_.loop.now();
  LoadPlan plan;
  if (world_.planner != nullptr) {
    std::string artifact = model_.artifact;
    wire::ReadyMessage ready = *ready_;
    plan = co_await world_.planner->plan(std::move(artifact), std::move(ready));
    if (plans_ != number) co_return;
  }
  planning_ = false;
  if (!usable() || level_ != WeightsLevel::kLoading) co_return;
  last_sign_of_work_ = world_.loop.now();
  planned_.clear();
  const TimePoint admitted = entered + plan.waited;
  if (admitted > load_asked_) {
    planned_.push_back(Stage{StageKind::kQueue, load_asked_, admitted, Bytes{}});
  }
  // The rest went into looking at files and devices.
  planned_.push_back(Stage{StageKind::kArtifactMetadata, admitted, last_sign_of_work_, Bytes{}});
  load_asked_ = last_sign_of_work_;
  ticket_ = std::move(plan.ticket);
  plan.message.idle = load_for_ == LoadFor::kNobody && inboxes_.empty();
  Frame frame = wire::make_frame(FrameType::kLoad, 0, wire::encode(plan.message));
  if (plan.stored) frame.descriptors.push_back(std::move(*plan.stored));
  send(std::move(frame));
}

// Waits for memory to be set aside.
Task<Result<>> ModelHost::enter_gate(std::uint64_t plan) {
  const wire::MemoryUse& use = ready_->estimate;
  // The engine's estimate leaves out what a model's evaluation takes beside; what was seen does
  // not.
  const Bytes all = use.weights + use.mapped + use.context + use.compute;
  const Bytes memory = std::max(all - std::min(all, use.device), most_held_);
  LoadWish wish{model_.artifact, model_.name, load_for_, memory, use.device, use.mapped};
  wish.on_wait = [this, plan](const PlaceInLine& place) {
    if (plans_ != plan) return;
    for (auto& [request, inbox] : inboxes_) inbox->push(place);
  };
  std::function<bool()> wanted = [this, plan] { return plans_ == plan; };
  auto leave = co_await world_.gate->enter(std::move(wish), std::move(wanted));
  if (!leave) co_return Failed{std::move(leave).error()};
  if (plans_ == plan) leave_ = std::move(*leave);
  co_return Result<>{};
}

// Of a load that the worker does not know of yet.
void ModelHost::drop_plan() {
  planning_ = false;
  ++plans_;
  if (world_.gate != nullptr) world_.gate->poke();
}

void ModelHost::refuse_load(Error why) {
  planning_ = false;
  load_wanted_ = false;
  failure_ = std::move(why);
  log::warn("model.load_refused", {{"model", model_.name}, {"reason", failure_->message()}});
  set_level(WeightsLevel::kHollow);
  for (auto& [request, inbox] : inboxes_) inbox->push(*failure_);
}

void ModelHost::cancel_load() {
  if (level_ != WeightsLevel::kLoading || cancel_sent_) return;
  if (load_waiters_ > 0 || !inboxes_.empty()) return;
  if (planning_) {
    drop_plan();
    on_load_given_up();
    return;
  }
  cancel_sent_ = true;
  send(wire::make_frame(FrameType::kCancel, 0, "{}"));
}

void ModelHost::on_load_given_up() {
  ++given_up_;
  load_fraction_ = 0;
  leave_.reset();
  log::info("model.load_given_up", {{"model", model_.name}});
  set_level(WeightsLevel::kHollow);
  load_if_wanted();
}

// By whoever came while the weights were on their way out.
void ModelHost::load_if_wanted() {
  const bool wanted = std::exchange(load_wanted_, false) && !inboxes_.empty();
  if (load_waiters_ > 0 || wanted) want_weights(kNoRequest);
}

Task<Result<wire::StoredMessage>> ModelHost::store_repack(Fd file, std::string content) {
  const auto pass = tasks_.enter();
  if (!pass) co_return fail(ErrorCode::kUnavailable, "the server is stopping");
  if (storing_ || level_ != WeightsLevel::kResident)
    co_return fail(ErrorCode::kConflict, "nothing is resident, or it is being stored already");
  storing_ = true;
  stored_.reset();
  const wire::StoreMessage message{std::move(content)};
  Frame frame = wire::make_frame(FrameType::kStore, 0, wire::encode(message));
  frame.descriptors.push_back(std::move(file));
  send(std::move(frame));
  while (!stored_ && worker_) co_await changed_.wait();
  storing_ = false;
  if (!stored_) co_return fail(ErrorCode::kUnavailable, "the worker left");
  co_return std::move(*stored_);
}

Task<Result<>> ModelHost::ensure_resident(const bool* cancelled, LoadFor load_for) {
  if (auto worker = co_await ensure_worker(cancelled); !worker) co_return worker;
  if (load_for == LoadFor::kNobody && level_ == WeightsLevel::kUnloading) {
    co_return fail(ErrorCode::kConflict, "the weights are just being given back");
  }
  const std::uint64_t loads = loads_;
  want_weights(kNoRequest, load_for);
  ++load_waiters_;
  while (!*cancelled && loads_ == loads &&
         (level_ == WeightsLevel::kLoading || level_ == WeightsLevel::kUnloading)) {
    co_await changed_.wait();
  }
  --load_waiters_;
  if (*cancelled) co_return fail(ErrorCode::kCancelled, "cancelled while the model loaded");
  // Unloaded again before this waiter's turn: it was loaded all the same.
  if (level_ == WeightsLevel::kResident || loads_ > loads) co_return Result<>{};
  if (failure_) co_return Failed{*failure_};
  co_return fail(ErrorCode::kUnavailable, "the worker died while it loaded the model");
}

Task<Result<>> ModelHost::unload(WeightsCause cause, Check check) {
  const auto pass = tasks_.enter();
  if (!pass) co_return fail(ErrorCode::kUnavailable, "the server is stopping");
  admission_.pause();
  Result<> given = co_await give_back(cause, std::move(check));
  admission_.resume();
  co_return given;
}

// A worker that dies meanwhile has given its memory back already, and those inside wait for another
// load, behind the one that this is for.
Task<Result<>> ModelHost::drain_for_others(const Check& check) {
  while (admission_.active() > 0) {
    if (level_ != WeightsLevel::kResident) {
      co_return fail(ErrorCode::kConflict, "its weights went by themselves");
    }
    if (check) {
      if (Result<> wanted = check(); !wanted) co_return wanted;
    }
    co_await admission_.change(world_.loop.now() + kLookWhileDraining);
  }
  co_return Result<>{};
}

Task<Result<>> ModelHost::give_back(WeightsCause cause, Check check) {
  if (cause == WeightsCause::kEvictedFor) {
    Result<> drained = co_await drain_for_others(check);
    if (!drained) co_return drained;
  }
  co_await admission_.drained();
  const std::uint64_t given_up = given_up_;
  while (level_ == WeightsLevel::kLoading && given_up_ == given_up) {
    Result<> loose = check ? check() : Result<>{};
    if (!loose) co_return loose;
    cancel_load();
    if (given_up_ == given_up) co_await changed_.wait();
  }
  // What is loaded now somebody wanted later than this.
  if (given_up_ != given_up) co_return Result<>{};
  if (check) {
    if (Result<> loose = check(); !loose) co_return loose;
  }
  if (level_ == WeightsLevel::kResident) {
    weights_cause_ = cause;
    last_sign_of_work_ = world_.loop.now();
    send(wire::make_frame(FrameType::kUnload, 0, "{}"));
    set_level(WeightsLevel::kUnloading);
  }
  while (level_ == WeightsLevel::kUnloading) co_await changed_.wait();
  co_return Result<>{};
}

}  // namespace hearth::front
