// SPDX-License-Identifier: Apache-2.0
#include "front/request_run.h"

#include <utility>

#include "base/log.h"

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
      waiting_since_{input_.context.first_byte} {
  if (is_load()) account_.set_kind(RequestKind::kLoad);
  if (only_counts()) account_.set_kind(RequestKind::kCount);
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
  run->arm_wait_limit(model);
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
    } else {
      refuse_with(std::move(ready).error());
    }
  }
  model.request_left(use(), reached_ ? Stay::Left::kServed : Stay::Left::kTurnedAway);
}

// Counting takes neither a place in the queue nor a look at the disk.
Task<Result<>> RequestRun::take_turn(Model& model, std::optional<Admission::Place>& place) {
  if (!only_counts()) {
    Result<Admission::Place> entered = co_await model.host().admission().enter(&cancelled_);
    if (!entered) co_return Failed{std::move(entered).error()};
    place.emplace(std::move(*entered));
  }
  account_.facts.queued_behind_load = model.host().level() == WeightsLevel::kLoading;
  const TimePoint admitted = loop_.now();
  Result<> prepared = co_await model.prepare(account_, use());
  if (account_.timeline.has(StageKind::kArtifactMetadata)) queued_until(admitted);
  co_return prepared;
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
    events_.clear();  // a delta that nobody has taken yet must not be taken after all
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
  Frame work;
  if (!is_load()) work = work_frame(input_.number, input_.work);
  if (work.payload.size() > wire::kMaxPayload) {
    refuse_with(Error{ErrorCode::kInvalid, "the request is too large"});
    co_return Step::kOver;
  }
  host.attach(input_.number, inbox_);
  if (!only_counts()) host.want_weights(input_.number);
  if (is_load()) {
    queued_until(loop_.now());
  } else {
    host.send(std::move(work));
  }
  in_worker_ = true;
  const Step step = co_await follow(model);
  in_worker_ = false;
  host.detach(input_.number);
  co_return step;
}

// A load sends nothing of its own to the worker: it waits for what all wait for.
void RequestRun::finish_load(Model& model) {
  waiting_since_ = loop_.now();
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
  const bool templated = generate != nullptr && !generate->messages.empty();
  if (templated && host.ready() && host.ready()->chat_template != "model") {
    account_.set_chat_template(host.ready()->chat_template);
  }
}

Task<RequestRun::Step> RequestRun::follow(Model& model) {
  for (bool ended = false; !ended;) {
    std::optional<InboxItem> item = co_await inbox_.pop();
    if (!item) break;
    if (const auto* lost = std::get_if<WorkerLost>(&*item)) {
      log::warn("request.worker_lost", {{"request", input_.id}, {"how", lost->reason}});
      if (!cancelled_) co_return Step::kLost;
      refuse_with(Error{ErrorCode::kCancelled, "cancelled"});
      break;
    }
    ended = on_item(model, *item);
  }
  co_return Step::kOver;
}

// True when it was the last one.
bool RequestRun::on_item(Model& model, InboxItem& item) {
  if (const auto* frame = std::get_if<Frame>(&item)) return on_frame(model, *frame);
  if (const auto* progress = std::get_if<wire::ProgressMessage>(&item)) {
    if (!only_counts()) on_progress(*progress);
    return false;
  }
  if (auto* failed = std::get_if<Error>(&item)) {
    if (only_counts()) return false;  // of somebody else's load
    // The load that it waited for was refused; the worker still has the request in hand.
    cancel_in_worker(model);
    refuse_with(std::move(*failed));
    return true;
  }
  if (std::holds_alternative<WeightsLoaded>(item)) {
    if (is_load()) finish_load(model);
    return is_load();
  }
  cancel_in_worker(model);
  // The worker answers only when the load has ended, and nobody waits for that any more.
  if (!is_load() && model.host().level() != WeightsLevel::kLoading) return false;
  queued_until(loop_.now());
  refuse_with(Error{ErrorCode::kCancelled, "cancelled"});
  return true;
}

void RequestRun::cancel_in_worker(Model& model) {
  if (is_load()) return;
  model.host().send(wire::make_frame(FrameType::kCancel, input_.number, "{}"));
}

// True when it was the request's last frame.
bool RequestRun::on_frame(Model& model, const Frame& frame) {
  // A frame that cannot be read costs the worker, whose loss then arrives in the inbox.
  const auto read = [&model](auto message, auto use) {
    if (!message) model.host().poison("a frame could not be read: " + message.error().message());
    if (message) use(std::move(*message));
    return message.has_value();
  };
  const std::string& payload = frame.payload;
  switch (frame.type) {
    case FrameType::kTokenized:
      read(wire::decode_tokenized(payload), [&](auto message) { on_tokenized(model, message); });
      return false;
    case FrameType::kStarted:
      read(wire::decode_started(payload), [&](auto message) { on_started(model, message); });
      return false;
    case FrameType::kDelta:
      read(wire::decode_delta(payload), [&](auto message) { on_delta(std::move(message)); });
      return false;
    case FrameType::kDone:
      return read(wire::decode_done(payload), [&](auto message) { on_done(model, message); });
    case FrameType::kEmbedded:
      return read(wire::decode_embedded(payload),
                  [&](auto message) { on_embedded(model, std::move(message)); });
    case FrameType::kFailed:
      return read(wire::decode_failed(payload), [&](auto message) { on_failed(model, message); });
    default:
      model.host().poison("it sent a frame that belongs to no request");
      return false;
  }
}

// One wait from the last thing that was done for this request to `until`: the front's queue, the
// hand-over and the worker's intake are the same to whoever waits.
void RequestRun::queued_until(TimePoint until) {
  if (until > waiting_since_) {
    account_.timeline.add(Stage{StageKind::kQueue, waiting_since_, until, Bytes{}});
  }
  waiting_since_ = loop_.now();
}

// ---- what the worker says ----

void RequestRun::on_tokenized(Model& model, const wire::TokenizedMessage& message) {
  // From handing it over until the worker took it up, the request waited like in any queue.
  if (!message.stages.empty()) queued_until(message.stages.front().start);
  account_.timeline.add(message.stages);
  account_.add_dropped(message);
  tokens_ = message.tokens;
  if (only_counts()) return;
  account_.facts.tokens_seen_before = model.seen_before(message.tokens, input_.context.key);
}

void RequestRun::add_load_if_waited(Model& model) {
  const std::optional<LoadRecord>& load = model.host().last_load();
  if (std::exchange(needed_load_, false) && load && load->number > loads_before_) {
    account_.add_load(*load);
  }
}

void RequestRun::on_started(Model& model, const wire::StartedMessage& message) {
  add_load_if_waited(model);
  disarm_wait_limit();
  account_.add_started(message, loop_.now());
  model.learn_prefill(message);
  started_ = true;
  Started started{message.prompt_tokens, message.cached_tokens, account_.report()};
  events_.push(std::move(started));
}

void RequestRun::on_delta(wire::DeltaMessage message) {
  delta_sent_ = true;
  Delta delta{std::move(message.text), std::move(message.reasoning), std::move(message.tool_calls)};
  events_.push(std::move(delta));
}

void RequestRun::on_failed(Model& model, const wire::FailedMessage& message) {
  add_load_if_waited(model);
  refuse_with(Error{error_code_named(message.code), message.message}
                  .at(message.field)
                  .with_counts({message.prompt_tokens, message.context}));
}

void RequestRun::on_done(Model& model, const wire::DoneMessage& message) {
  add_load_if_waited(model);
  account_.add_done(message);
  if (!only_counts()) model.host().note_cells(message.context, message.live_tokens);
  if (message.reason == "cancelled") {
    refuse_with(Error{ErrorCode::kCancelled, "cancelled"});
    return;
  }
  if (!only_counts()) model.note_evaluated(tokens_, input_.context.key);
  Finished finished;
  finished.reason = message.reason;
  finished.stopped_by = message.stopped_by;
  finished.prompt_tokens = message.prompt_tokens;
  finished.cached_tokens = message.cached_tokens;
  finished.generated = message.generated;
  finished.prompt_ms = message.prompt_ms;
  finished.generated_ms = message.generated_ms;
  finished.tokens = tokens_with(message.tokens);
  // The account is asked now: the reply carries what is known before its last byte.
  finished.report = account_.report();
  over_ = true;
  events_.push(std::move(finished));
}

// Prompt and reply, where they were asked for: what a later request goes on from.
std::vector<int> RequestRun::tokens_with(std::vector<int> generated) const {
  const auto* generate = std::get_if<wire::GenerateMessage>(&input_.work);
  if (generate == nullptr || !generate->return_tokens) return {};
  std::vector<int> all = tokens_;
  all.insert(all.end(), generated.begin(), generated.end());
  return all;
}

void RequestRun::on_embedded(Model& model, wire::EmbeddedMessage message) {
  add_load_if_waited(model);
  account_.add_embedded(message);
  Embedded embedded{std::move(message.vectors)};
  events_.push(std::move(embedded));
  Finished finished;
  finished.reason = "stop";
  finished.prompt_tokens = message.prompt_tokens;
  finished.report = account_.report();
  over_ = true;
  events_.push(std::move(finished));
}

void RequestRun::on_progress(const wire::ProgressMessage& message) {
  Progress progress{message.stage, message.fraction,
                    static_cast<std::int64_t>(message.done.count()),
                    static_cast<std::int64_t>(message.total.count())};
  events_.push(std::move(progress));
}

// ---- ends ----

void RequestRun::refuse_with(Error error) {
  if (over_) return;
  if (tokens_.empty()) queued_until(loop_.now());
  Refused refused{std::move(error), std::nullopt, std::nullopt, {}};
  if (waited_too_long_ && refused.error.code() == ErrorCode::kCancelled) {
    refused.error = Error{ErrorCode::kUnavailable, "the model is still warming up"};
    refused.eta_ms = model_ != nullptr ? model_->eta_ms() : std::nullopt;
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
  if (model_ == nullptr) return;
  if (in_worker_) {
    inbox_.push(CancelAsked{});
  } else {
    model_->host().admission().poke();
    model_->host().poke();
  }
}

void RequestRun::arm_wait_limit(Model& model) {
  if (!input_.context.wait_limit || only_counts()) return;
  if (model.host().level() == WeightsLevel::kResident) return;
  const TimePoint when = input_.context.first_byte + *input_.context.wait_limit;
  wait_timer_ = loop_.call_at(when, [this, &model] {
    wait_timer_ = 0;
    if (model.host().level() == WeightsLevel::kResident) return;  // warm by now: it is served
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
