// SPDX-License-Identifier: Apache-2.0
#include "worker/sequence.h"

#include <algorithm>
#include <utility>

namespace hearth::worker {
namespace {

using engine::OutputDelta;
using engine::Token;

constexpr Duration kWorthTelling = std::chrono::microseconds{50};

TimePoint now() { return Clock::real().now(); }

wire::DeltaMessage message_of(OutputDelta delta, int generated) {
  wire::DeltaMessage message;
  message.text = std::move(delta.text);
  message.reasoning = std::move(delta.reasoning);
  message.generated = generated;
  for (engine::ToolCallPart& part : delta.tool_calls) {
    message.tool_calls.push_back(
        {part.index, std::move(part.id), std::move(part.name), std::move(part.arguments)});
  }
  return message;
}

wire::TokenChance chance_of(const engine::Vocabulary& vocabulary, engine::TokenChance from) {
  wire::TokenChance chance;
  chance.token = from.token;
  chance.logprob = from.logprob;
  vocabulary.append_piece(from.token, engine::ShowSpecial::kYes, chance.bytes);
  return chance;
}

}  // namespace

Sequence::Sequence(RequestPtr request, const engine::Vocabulary& vocabulary, Replies& replies,
                   Place place)
    : request_{std::move(request)},
      vocabulary_{vocabulary},
      replies_{replies},
      place_{place},
      answer_{vocabulary, *request_},
      prompt_done_{place.cached},
      ready_{now()} {
  prefix_.live = place.cached;
}

Demand Sequence::demand() const {
  const int left = static_cast<int>(request_->prompt.size()) - prompt_done_;
  return {generated_ > 0, left};
}

int Sequence::cells_needed() const {
  return static_cast<int>(request_->prompt.size()) + generated_;
}

std::span<const Token> Sequence::next(int count) const {
  if (generated_ > 0) return {&last_, 1};
  return std::span{request_->prompt}.subspan(static_cast<std::size_t>(prompt_done_),
                                             static_cast<std::size_t>(count));
}

bool Sequence::finishes_prompt(int count) const {
  return generated_ > 0 || prompt_done_ + count == static_cast<int>(request_->prompt.size());
}

void Sequence::evaluated(int count) {
  if (generated_ == 0) prompt_done_ += count;
}

void Sequence::waited(TimePoint since, TimePoint until) {
  if (until - since >= kWorthTelling) stages_.push_back({StageKind::kQueue, since, until, {}});
  ready_ = until;
}

void Sequence::context_grew(TimePoint start, TimePoint end) {
  add_stage({StageKind::kContext, start, end, {}});
}

void Sequence::add_stage(Stage stage) {
  ready_ = std::max(ready_, stage.end);
  stages_.push_back(stage);
}

void Sequence::step_begins(TimePoint start) {
  if (prefill_start_ != TimePoint{}) return;
  waited(ready_, start);
  prefill_start_ = start;
}

Sequence::State Sequence::take_logits(llama_context* context, int index) {
  if (generated_ == 0) logits_at_ = now();
  if (request_->max_tokens == 0) {
    end("length");
    return State::kEnded;
  }
  auto token = request_->sampler->sample(context, index);
  if (!token) {
    error_ = std::move(token).error();
    return State::kEnded;
  }
  return take_token(*token, told_of(context, index, *token));
}

std::optional<wire::TokenLogprob> Sequence::told_of(llama_context* context, int index,
                                                    Token token) const {
  if (!request_->logprobs || vocabulary_.is_eog(token)) return std::nullopt;
  const auto known = engine::read_logprobs(context, index, vocabulary_, token, *request_->logprobs);
  wire::TokenLogprob told{chance_of(vocabulary_, {token, known.chosen}), {}};
  for (const engine::TokenChance& one : known.top) {
    told.top.push_back(chance_of(vocabulary_, one));
  }
  return told;
}

Sequence::State Sequence::take_token(Token token, std::optional<wire::TokenLogprob> told) {
  last_ = token;
  ++generated_;
  if (request_->return_tokens) written_.push_back(token);
  if (vocabulary_.is_eog(token)) {
    stamp_first_token(now());
    end("stop");
    return State::kEnded;
  }
  auto [delta, stop] = answer_.add(token, std::move(told));
  stamp_first_token(now());
  send(std::move(delta));
  if (stop != nullptr) {
    stopped_by_ = *stop;
    end("stop");
    return State::kEnded;
  }
  if (generated_ == request_->max_tokens || cells_needed() > place_.context_limit) {
    end("length");
    return State::kEnded;
  }
  return State::kGoing;
}

void Sequence::stamp_first_token(TimePoint when) {
  last_token_ = when;
  if (generated_ > 1) return;
  first_token_ = when;
}

void Sequence::send_started() {
  if (std::exchange(started_, true)) return;
  wire::StartedMessage message;
  message.prompt_tokens = static_cast<int>(request_->prompt.size());
  message.cached_tokens = cached();
  message.prefix = prefix_;
  message.stages = std::move(stages_);
  message.stages.push_back({StageKind::kPrefill, prefill_start_, logits_at_, {}});
  if (generated_ > 0) {
    message.stages.push_back({StageKind::kFirstDecode, logits_at_, first_token_, {}});
  }
  replies_.send(wire::FrameType::kStarted, request_->id, message);
  if (request_->echo.empty()) return;
  wire::DeltaMessage echo;
  echo.text = std::move(request_->echo);
  replies_.send(wire::FrameType::kDelta, request_->id, echo);
}

void Sequence::send(OutputDelta delta) {
  // What is known of tokens that came to no text yet waits for some.
  if (!delta.empty()) send(std::move(delta), answer_.take_logprobs());
}

void Sequence::send(OutputDelta delta, std::vector<wire::TokenLogprob> logprobs) {
  send_started();
  wire::DeltaMessage message = message_of(std::move(delta), generated_);
  message.logprobs = std::move(logprobs);
  replies_.send(wire::FrameType::kDelta, request_->id, message);
}

void Sequence::finish(const CellFigures& figures) {
  if (reason_ != "cancelled" && stopped_by_.empty()) send(answer_.rest());
  if (reason_ != "cancelled") {
    send(answer_.finish());
    auto left = answer_.take_logprobs();
    if (!left.empty()) send({}, std::move(left));
    send_started();
  }
  if (reason_ == "stop" && answer_.called_tools()) reason_ = "tool_calls";
  wire::DoneMessage done;
  done.reason = reason_;
  done.stopped_by = stopped_by_;
  done.prompt_tokens = static_cast<int>(request_->prompt.size());
  done.cached_tokens = cached();
  done.generated = generated_;
  if (logits_at_ != TimePoint{}) done.prompt_ms = milliseconds_of(logits_at_ - prefill_start_);
  if (!started_) add_cut_prefill(done);
  if (generated_ > 0) {
    done.generated_ms = milliseconds_of(last_token_ - first_token_);
    done.stages.push_back({StageKind::kDecode, first_token_, now(), {}});
  }
  done.live_tokens = figures.live_tokens;
  done.context = figures.cells;
  done.tokens = std::move(written_);
  replies_.send(wire::FrameType::kDone, request_->id, done);
}

// Nobody was told yet what a prompt took that is given up in the middle.
void Sequence::add_cut_prefill(wire::DoneMessage& done) {
  done.stages = std::move(stages_);
  if (prefill_start_ == TimePoint{}) return;
  const TimePoint end = logits_at_ != TimePoint{} ? logits_at_ : now();
  done.stages.push_back({StageKind::kPrefill, prefill_start_, end, {}});
}

void Sequence::finish_cancelled(const CellFigures& figures) {
  end("cancelled");
  finish(figures);
}

void Sequence::fail(const Error& error) { replies_.send_error(request_->id, error); }

}  // namespace hearth::worker
