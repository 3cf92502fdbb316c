// SPDX-License-Identifier: Apache-2.0
//
// RequestRun in the worker's hands: what comes back, and what it means.
#include <utility>

#include "base/log.h"
#include "front/request_run.h"
#include "wire/failure.h"

namespace hearth::front {

using wire::Frame;
using wire::FrameType;

Task<RequestRun::Step> RequestRun::follow(Model& model) {
  const Bytes compiled_before = co_await model.driver_bytes();
  for (bool ended = false; !ended;) {
    std::optional<InboxItem> item = co_await inbox_.pop();
    if (!item) break;
    if (const auto* lost = std::get_if<WorkerLost>(&*item)) {
      log::warn("request.worker_lost", {{"request", input_.id}, {"how", lost->reason}});
      if (!cancelled_) co_return Step::kLost;
      refuse_with(Error{ErrorCode::kCancelled, "cancelled"});
      break;
    }
    if (ends_reply(*item)) {
      Result<> right = co_await model.host().check_files();
      if (!right) {
        refuse_with(std::move(right).error());
        break;
      }
    }
    const auto* frame = std::get_if<Frame>(&*item);
    if (frame != nullptr && frame->type == FrameType::kStarted) {
      co_await note_late_compiles(model, compiled_before);
    }
    ended = on_item(model, *item);
  }
  co_return Step::kOver;
}

// With it, what was made from the model's files goes out as a whole.
bool RequestRun::ends_reply(const InboxItem& item) const {
  if (const auto* frame = std::get_if<Frame>(&item)) {
    return frame->type == FrameType::kDone || frame->type == FrameType::kEmbedded;
  }
  return is_load() && std::holds_alternative<WeightsLoaded>(item);
}

// A shape that had not run yet, or not with these drivers, makes a GPU's driver compile, and keep
// what it compiled.
Task<void> RequestRun::note_late_compiles(Model& model, Bytes before) {
  const Bytes now = co_await model.driver_bytes();
  if (now <= before) co_return;
  late_compiled_ = now - before;
  const bool new_drivers = model.compiled_cause() == VerdictCode::kCompiledDriver;
  account_.facts.compiled_cause =
      new_drivers ? VerdictCode::kCompiledDriver : VerdictCode::kCompiledShape;
}

// True when it was the last one.
bool RequestRun::on_item(Model& model, InboxItem& item) {
  if (const auto* frame = std::get_if<Frame>(&item)) return on_frame(model, *frame);
  if (const auto* progress = std::get_if<wire::ProgressMessage>(&item)) {
    if (!only_counts()) on_progress(*progress);
    return false;
  }
  if (const auto* place = std::get_if<PlaceInLine>(&item)) {
    std::optional<double> earliest;
    if (place->earliest) earliest = milliseconds_of(*place->earliest);
    if (!only_counts()) events_.push(Progress{"queue", 0, 0, 0, place->ahead, earliest});
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

// ---- what the worker says ----

void RequestRun::on_tokenized(Model& model, const wire::TokenizedMessage& message) {
  // From handing it over until the worker took it up, the request waited like in any queue.
  if (!message.stages.empty()) queued_until(message.stages.front().start);
  account_.timeline.add(message.stages);
  account_.add_dropped(message);
  tokens_ = message.tokens;
  begin_plan(model);
  tell_stages();
}

void RequestRun::add_load_if_waited(Model& model) {
  const std::optional<LoadRecord>& load = model.host().last_load();
  if (std::exchange(needed_load_, false) && load && load->number > loads_before_) {
    account_.add_load(*load);
    account_.facts.compiled_cause = model.compiled_cause();
  }
}

// What had been forecast is held to the prompt's real length, of which nobody knew before.
void RequestRun::meet_forecast(Model& model, int fresh_tokens) {
  if (!account_.outlook || started_) return;
  model.starts().note_first_token(*account_.outlook, fresh_tokens,
                                  loop_.now() - admitted_ - account_.facts.restored);
}

std::optional<FirstToken> RequestRun::first_token() const {
  const RequestReport report = account_.report();
  if (!report.time_to_first_token || !account_.outlook) return std::nullopt;
  const int fresh = report.prompt_tokens - report.cached_tokens;
  FirstToken token;
  token.time = *report.time_to_first_token;
  token.since = waited() - token.time;
  token.evaluated = report.prefill;
  token.forecast = account_.outlook->at(fresh).time;
  token.forecast_of_short = account_.outlook->at(FirstToken::kShortPrompt).time;
  return token;
}

void RequestRun::on_started(Model& model, const wire::StartedMessage& message) {
  add_load_if_waited(model);
  disarm_wait_limit();
  account_.add_started(message, loop_.now());
  note_prefix_started(model, message);
  const Bytes compiled = std::exchange(late_compiled_, Bytes{});
  account_.add_late_compiles(message, compiled);
  meet_forecast(model, message.prompt_tokens - message.cached_tokens);
  if (compiled == Bytes{}) model.learn_prefill(message);  // else it is no usual one
  started_ = true;
  tell_stages();
  Started started{message.prompt_tokens, message.cached_tokens, account_.report()};
  events_.push(std::move(started));
}

void RequestRun::on_delta(wire::DeltaMessage message) {
  delta_sent_ = true;
  Delta delta{std::move(message.text), std::move(message.reasoning), std::move(message.tool_calls),
              std::move(message.logprobs)};
  events_.push(std::move(delta));
}

void RequestRun::on_failed(Model& model, const wire::FailedMessage& message) {
  add_load_if_waited(model);
  refuse_with(wire::error_of(message));
}

void RequestRun::on_done(Model& model, const wire::DoneMessage& message) {
  worker_done_ = true;
  add_load_if_waited(model);
  account_.add_done(message);
  account_.note_swap(model.host().heartbeat().swapped);
  if (!only_counts()) model.host().note_cells(message.context, message.live_tokens);
  if (message.reason == "cancelled") {
    refuse_with(Error{ErrorCode::kCancelled, "cancelled"});
    return;
  }
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
  account_.note_swap(model.host().heartbeat().swapped);
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

}  // namespace hearth::front
