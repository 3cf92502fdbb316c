// SPDX-License-Identifier: Apache-2.0
#include "front/request_run.h"

#include <utility>

namespace hearth::front {
namespace {

using wire::Frame;
using wire::FrameType;

constexpr int kAttempts = 2;

Frame work_frame(std::uint64_t request, const RequestRun::Work& work) {
  if (const auto* generate = std::get_if<wire::GenerateMessage>(&work)) {
    return wire::make_frame(FrameType::kGenerate, request, wire::encode(*generate));
  }
  return wire::make_frame(FrameType::kEmbed, request,
                          wire::encode(std::get<wire::EmbedMessage>(work)));
}

}  // namespace

RequestRun::RequestRun(EventLoop& loop, Input input, std::int64_t wall_us, OnClosed on_closed)
    : loop_{loop},
      input_{std::move(input)},
      on_closed_{std::move(on_closed)},
      account_{input_.id, input_.context, wall_us},
      events_{loop},
      inbox_{loop},
      waiting_since_{input_.context.first_byte},
      plan_ended_{loop} {
  if (is_load()) account_.set_kind(RequestKind::kLoad);
  // What is evaluated for its own sake is no answer, either.
  const bool makes_module = !input_.context.module.empty();
  if (only_counts() || makes_module) account_.set_kind(RequestKind::kCount);
}

// ---- the task ----

Task<void> RequestRun::refuse(std::shared_ptr<RequestRun> run, Error error) {
  run->refuse_with(std::move(error));
  run->finish_if_abandoned();
  co_return;
}

Task<void> RequestRun::run(std::shared_ptr<RequestRun> run, Model& model, std::string name) {
  run->model_ = &model;
  run->account_.set_model(std::move(name));
  run->account_.rates = model.rates();
  run->account_.warm_bound = model.warm_bound();
  run->normalise(model);
  run->arm_wait_limit([&model] { return model.host().level() == WeightsLevel::kResident; });
  co_await run->serve(model);
  run->disarm_wait_limit();
  run->model_ = nullptr;
  run->finish_if_abandoned();
}

Task<void> RequestRun::serve(Model& model) {
  model.request_arrived(use());
  {
    std::optional<Admission::Place> place;
    Result<> ready = co_await take_turn(model, place);
    if (ready) {
      co_await attempts(model);
      const bool replied = reached_ && !is_load() && !only_counts() && !cancelled_;
      if (replied) model.starts().note_service(loop_.now() - admitted_);
    } else {
      refuse_with(std::move(ready).error());
    }
  }
  model.request_left(use(), reached_ ? Stay::Left::kServed : Stay::Left::kTurnedAway);
}

// Counting takes neither a place in the queue nor a look at the disk.
Task<Result<>> RequestRun::take_turn(Model& model, std::optional<Admission::Place>& place) {
  if (!only_counts()) {
    std::function<void(int)> tell = [this, &model](int ahead) { tell_place(model, ahead); };
    auto entered = co_await model.host().admission().enter(&cancelled_, std::move(tell));
    if (!entered) co_return Failed{std::move(entered).error()};
    place.emplace(std::move(*entered));
  }
  account_.facts.queued_behind_load = model.host().level() == WeightsLevel::kLoading;
  admitted_ = loop_.now();
  Result<> prepared = co_await model.prepare(account_, use());
  if (!only_counts()) account_.outlook = model.outlook();
  if (files_before_) account_.before.artifact = *files_before_;
  if (account_.timeline.has(StageKind::kArtifactMetadata)) queued_until(admitted_);
  co_return prepared;
}

void RequestRun::tell_place(const Model& model, int ahead) {
  std::optional<double> turn;
  if (const auto place = model.starts().time_to_place()) {
    turn = milliseconds_of(*place) * (ahead + 1);
  }
  events_.push(Progress{"queue", 0, 0, 0, ahead, turn});
}

Task<void> RequestRun::attempts(Model& model) {
  for (int n = 1; n <= kAttempts; ++n) {
    const Step step = co_await attempt(model);
    if (step == Step::kOver) break;
    const bool may_repeat = input_.delivery == Delivery::kWhole || !delta_taken_;
    if (n == kAttempts || !may_repeat) {
      Error died{ErrorCode::kUnavailable, "the model's worker died; please try again"};
      refuse_with(model.host().failure().value_or(std::move(died)));
      break;
    }
    model.request_retried();
    account_.outlook.reset();  // nobody had forecast a second attempt
    events_.clear();           // a delta that nobody has taken yet must not be taken after all
    if (std::exchange(delta_sent_, false) || started_) events_.push(Restarted{});
    started_ = false;
  }
}

Task<RequestRun::Step> RequestRun::attempt(Model& model) {
  if (cancelled_) {
    refuse_with(Error{ErrorCode::kCancelled, "cancelled"});
    co_return Step::kOver;
  }
  ModelHost& host = model.host();
  const std::uint64_t spawns = host.spawns();
  const bool joined_spawn = !host.has_worker();
  const TimePoint begun = loop_.now();
  Result<> worker = co_await host.ensure_worker(&cancelled_);
  if (host.spawns() != spawns || (joined_spawn && worker)) {
    queued_until(begun);
    account_.add_spawn(host.spawn_stages());
    tell_stages();
  }
  if (!worker) {
    refuse_with(std::move(worker).error());
    co_return Step::kOver;
  }
  const Step step = co_await hand_over(model);
  if (step == Step::kLost) {
    // What the dead worker had done is lost: the wait for its successor begins where it took over.
    waiting_since_ = begun;
    queued_until(loop_.now());
  }
  co_return step;
}

Task<RequestRun::Step> RequestRun::hand_over(Model& model) {
  ModelHost& host = model.host();
  reached_ = true;
  model.request_reached(use(), input_.context.keep_alive);
  note_template(host);
  note_loads(host);
  if (is_load() && !needed_load_) {
    queued_until(loop_.now());
    finish_load(model);
    co_return Step::kOver;
  }
  ask_for_prefix(model);
  Frame work;
  if (!is_load()) work = work_frame(input_.number, input_.work);
  if (work.payload.size() > wire::kMaxPayload) {
    refuse_with(Error{ErrorCode::kInvalid, "the request is too large"});
    co_return Step::kOver;
  }
  host.attach(input_.number, inbox_);
  const LoadFor load_for = is_use() ? LoadFor::kRequest : LoadFor::kNobody;
  if (!only_counts()) host.want_weights(input_.number, load_for);
  if (is_load()) {
    queued_until(loop_.now());
  } else {
    host.send(std::move(work));
  }
  in_worker_ = true;
  const Step step = co_await follow(model);
  in_worker_ = false;
  co_await end_plan(model);
  host.detach(input_.number);
  co_return step;
}

// A load sends nothing of its own to the worker: it waits for what all wait for.
void RequestRun::finish_load(Model& model) {
  waiting_since_ = loop_.now();
  if (needed_load_ && account_.outlook) {
    model.starts().note_loaded(*account_.outlook, loop_.now() - admitted_);
  }
  add_load_if_waited(model);
  disarm_wait_limit();
  account_.set_loaded();
  Finished finished;
  finished.reason = "load";
  finished.report = account_.report();
  over_ = true;
  events_.push(std::move(finished));
}

void RequestRun::note_loads(const ModelHost& host) {
  needed_load_ = !only_counts() && host.level() != WeightsLevel::kResident;
  loads_before_ = host.last_load() ? host.last_load()->number : 0;
}

bool RequestRun::only_counts() const {
  const auto* generate = std::get_if<wire::GenerateMessage>(&input_.work);
  return generate != nullptr && generate->count_only;
}

void RequestRun::note_template(const ModelHost& host) {
  const auto* generate = std::get_if<wire::GenerateMessage>(&input_.work);
  const bool templated =
      generate != nullptr && !generate->messages.empty() && generate->chat_template.empty();
  if (templated && host.ready() && host.ready()->chat_template != "model") {
    account_.set_chat_template(host.ready()->chat_template);
  }
}

void RequestRun::tell_stages() const {
  if (input_.on_stages) input_.on_stages(*this);
}

// One wait from the last thing that was done for this request to `until`: the front's queue, the
// hand-over and the worker's intake are the same to whoever waits.
void RequestRun::queued_until(TimePoint until) {
  if (until > waiting_since_) {
    account_.timeline.add(Stage{StageKind::kQueue, waiting_since_, until, Bytes{}});
  }
  waiting_since_ = loop_.now();
}

// ---- ends ----

void RequestRun::refuse_with(Error error) {
  if (over_) return;
  if (tokens_.empty()) queued_until(loop_.now());
  Refused refused{std::move(error), std::nullopt, std::nullopt, {}};
  if (waited_too_long_ && refused.error.code() == ErrorCode::kCancelled) {
    refused.error =
        Error{ErrorCode::kUnavailable, model_ != nullptr ? "the model is still warming up"
                                                         : "the model is still being downloaded"};
    refused.eta_ms = model_ != nullptr ? model_->eta_ms() : pull_eta_ms_;
    refused.retry_after_s = static_cast<int>(refused.eta_ms.value_or(1000.0) / 1000.0) + 1;
  } else if (refused.error.code() == ErrorCode::kBusy) {
    refused.retry_after_s = model_ != nullptr ? model_->retry_after_s() : 1;
    if (model_ != nullptr) model_->queue_rejected();
  }
  const bool cancelled = refused.error.code() == ErrorCode::kCancelled;
  account_.set_outcome(cancelled ? Outcome::kCancelled : Outcome::kError, refused.error.message());
  refused.report = account_.report();
  over_ = true;
  events_.push(std::move(refused));
}

void RequestRun::cancel() {
  if (cancelled_ || over_) return;
  cancelled_ = true;
  if (pull_ != nullptr) pull_->cancel();
  if (model_ == nullptr) return;
  if (in_worker_) {
    inbox_.push(CancelAsked{});
  } else {
    model_->host().admission().poke();
    model_->host().poke();
  }
}

void RequestRun::arm_wait_limit(std::function<bool()> warm) {
  if (!input_.context.wait_limit || only_counts() || warm()) return;
  const TimePoint when = input_.context.first_byte + *input_.context.wait_limit;
  wait_timer_ = loop_.call_at(when, [this, warm = std::move(warm)] {
    wait_timer_ = 0;
    if (warm()) return;  // by now: it is served
    waited_too_long_ = true;
    cancel();
  });
}

void RequestRun::disarm_wait_limit() {
  if (wait_timer_ != 0) loop_.cancel(std::exchange(wait_timer_, 0));
}

void RequestRun::close(std::optional<int> http_status) {
  if (closed_) return;
  if (!http_status) {
    abandoned_ = true;
    cancel();
    if (model_ == nullptr) finish_if_abandoned();
    return;
  }
  closed_ = true;
  account_.set_status(*http_status);
  on_closed_(account_.final_report(loop_.now()));
}

void RequestRun::finish_if_abandoned() {
  if (!abandoned_ || closed_) return;
  closed_ = true;
  account_.set_outcome(Outcome::kCancelled, "the client went away");
  on_closed_(account_.final_report(loop_.now()));
}

// ---- the handle ----

RunReply::~RunReply() {
  if (!sent_) run_->close(std::nullopt);
}

Task<Event> RunReply::next() {
  std::shared_ptr<RequestRun> run = run_;
  std::optional<Event> event = co_await run->events().pop();
  if (std::holds_alternative<Delta>(*event)) run->note_delta_taken();
  co_return std::move(*event);
}

void RunReply::sent(int http_status) {
  sent_ = true;
  run_->close(http_status);
}

}  // namespace hearth::front
