// SPDX-License-Identifier: Apache-2.0
#include "api/choices.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "api/client_watch.h"
#include "api/late_stream.h"
#include "api/reply_set.h"

namespace hearth::api {
namespace {

// The prompt was evaluated once, and its tokens count once.
front::Finished total_of(const std::vector<Choice>& choices) {
  const auto evaluated = std::ranges::min_element(
      choices, {}, [](const Choice& choice) { return choice.end.cached_tokens; });
  front::Finished total = evaluated->end;
  total.generated = 0;
  for (const Choice& choice : choices) {
    total.generated += choice.end.generated;
    total.generated_ms = std::max(total.generated_ms, choice.end.generated_ms);
  }
  return total;
}

double mean_logprob(const Choice& choice) {
  double sum = 0;
  for (const wire::TokenLogprob& token : choice.reply.logprobs) sum += token.chosen.logprob;
  const auto count = static_cast<double>(choice.reply.logprobs.size());
  return count > 0 ? sum / count : 0;
}

void keep_likeliest(std::vector<Choice>& choices, int count) {
  std::ranges::stable_sort(choices, std::greater{}, mean_logprob);
  choices.resize(static_cast<std::size_t>(count));
}

void forget_logprobs(std::vector<Choice>& choices) {
  for (Choice& choice : choices) choice.reply.logprobs.clear();
}

// Which of the replies failed, and how.
struct Failure {
  int index;
  front::Refused refused;
};

// Several replies on their way to a client that wants them whole.
class WholeChoices {
 public:
  WholeChoices(Call& call, const GenerateCall& request, ChoiceCount count)
      : call_{call},
        model_{request.options.model},
        count_{count},
        replies_{call, request, count.written},
        choices_(static_cast<std::size_t>(count.written)) {}

  Task<void> run(MakeChoicesFormat make_format) {
    bool more = true;
    while (more) {
      std::optional<ReplySet::Arrival> arrival = co_await replies_.next();
      more = arrival.has_value();
      if (arrival && !failure_) take(std::move(*arrival));
    }
    if (failure_) {
      co_await send_refusal(call_, replies_.reply(failure_->index), std::move(failure_->refused));
      co_return;
    }
    co_await send(std::move(make_format));
  }

 private:
  void take(ReplySet::Arrival arrival) {
    Choice& choice = choices_[static_cast<std::size_t>(arrival.index)];
    if (auto* refused = std::get_if<front::Refused>(&arrival.event)) {
      failure_ = Failure{arrival.index, std::move(*refused)};
      replies_.cancel();
    } else if (const auto* delta = std::get_if<front::Delta>(&arrival.event)) {
      choice.reply.add(*delta);
    } else if (auto* finished = std::get_if<front::Finished>(&arrival.event)) {
      choice.end = std::move(*finished);
    } else if (std::holds_alternative<front::Restarted>(arrival.event)) {
      choice.reply = {};  // what was collected before a worker died is void
    }
  }

  Task<void> send(MakeChoicesFormat make_format) {
    front::Reply& first = replies_.reply(0);
    const front::Finished total = total_of(choices_);
    if (count_.asked < count_.written) keep_likeliest(choices_, count_.asked);
    if (!count_.tells_logprobs) forget_logprobs(choices_);
    const auto format = make_format(identity_of(call_, first, model_));
    http::HttpResponse response;
    response.headers.push_back({"Content-Type", "application/json"});
    response.body = format->whole(choices_, total);
    add_headers(response.headers, call_, first, total.report);
    (void)co_await call_.exchange.respond(std::move(response));
    for (int index = 0; index < replies_.size(); ++index) replies_.reply(index).sent(200);
  }

  Call& call_;
  std::string model_;
  ChoiceCount count_;
  ReplySet replies_;
  std::vector<Choice> choices_;
  std::optional<Failure> failure_;
};

// The same for one that reads them piece by piece, as they come.
class StreamedChoices {
 public:
  StreamedChoices(Call& call, const GenerateCall& request, int count, MakeChoicesFormat make_format)
      : call_{call},
        model_{request.options.model},
        return_progress_{request.options.return_progress},
        make_format_{std::move(make_format)},
        out_{call.exchange},
        replies_{call, request, count},
        states_(static_cast<std::size_t>(count)) {}

  Task<void> run() {
    bool more = true;
    while (more) {
      std::optional<ReplySet::Arrival> arrival = co_await replies_.next();
      more = arrival.has_value();
      if (arrival && !over()) co_await take(std::move(*arrival));
    }
    if (failure_) {
      co_await refuse_now();
    } else if (!gone_) {
      co_await end();
    }
  }

 private:
  struct State {
    bool opened = false;
    RequestReport report;  // what the headers say, if it comes first
    Choice choice;         // but for its text
  };

  bool over() const { return failure_ || gone_; }
  State& at(int index) { return states_[static_cast<std::size_t>(index)]; }

  Task<void> take(ReplySet::Arrival arrival) {
    const int index = arrival.index;
    std::string out;
    if (auto* refused = std::get_if<front::Refused>(&arrival.event)) {
      failure_ = Failure{index, std::move(*refused)};
      replies_.cancel();
    } else if (const auto* delta = std::get_if<front::Delta>(&arrival.event)) {
      append_opening(out, index);
      format().append_delta(out, index, *delta);
    } else if (auto* started = std::get_if<front::Started>(&arrival.event)) {
      at(index).report = std::move(started->report);
    } else if (const auto* progress = std::get_if<front::Progress>(&arrival.event)) {
      // All wait for the same model: one of them tells.
      if (return_progress_ && index == 0) append_progress_comment(out, *progress);
    } else if (auto* finished = std::get_if<front::Finished>(&arrival.event)) {
      append_end(out, index, std::move(*finished));
    }
    if (!out.empty()) co_await send(index, std::move(out));
    if (at(index).choice.end.reason.empty() || gone_) co_return;
    replies_.reply(index).sent(200);
  }

  void append_end(std::string& out, int index, front::Finished finished) {
    State& state = at(index);
    if (!state.opened) state.report = finished.report;
    append_opening(out, index);
    format().append_choice_end(out, index, finished);
    state.choice.end = std::move(finished);
  }

  void append_opening(std::string& out, int index) {
    if (!std::exchange(at(index).opened, true)) format().append_first(out, index);
  }

  ChoicesFormat& format() {
    if (!format_) format_ = make_format_(identity_of(call_, replies_.reply(0), model_));
    return *format_;
  }

  Task<void> send(int index, std::string bytes) {
    if (!out_.begun()) {
      http::Headers headers{{"Content-Type", std::string{kEventStream}},
                            {"Cache-Control", "no-cache"}};
      add_headers(headers, call_, replies_.reply(0), at(index).report);
      out_.set_headers(std::move(headers));
    }
    const bool sent = co_await out_.send(std::move(bytes));
    if (sent) co_return;
    gone_ = true;
    replies_.cancel();
  }

  Task<void> end() {
    std::vector<Choice> choices;
    for (State& state : states_) choices.push_back(std::move(state.choice));
    std::string out;
    format().append_end(out, total_of(choices));
    co_await out_.send(std::move(out));
    co_await out_.end();
  }

  Task<void> refuse_now() {
    front::Reply& reply = replies_.reply(failure_->index);
    if (!out_.begun()) {
      co_await send_refusal(call_, reply, std::move(failure_->refused));
      co_return;
    }
    if (nobody_listens(call_.exchange, failure_->refused)) {
      reply.sent(kClientGone);
      co_return;
    }
    std::string out;
    format().append_error(out, failure_->refused);
    co_await out_.send(std::move(out));
    co_await out_.end();
    reply.sent(200);
  }

  Call& call_;
  std::string model_;
  bool return_progress_;
  MakeChoicesFormat make_format_;
  LateStream out_;
  std::unique_ptr<ChoicesFormat> format_;  // from the first chunk on
  ReplySet replies_;
  std::vector<State> states_;
  std::optional<Failure> failure_;
  bool gone_ = false;  // the client takes no more
};

}  // namespace

Task<void> serve_choices(Call call, GenerateCall request, ChoiceCount count,
                         MakeChoicesFormat make_format) {
  if (request.delivery == front::Delivery::kStreamed) {
    StreamedChoices choices{call, request, count.asked, std::move(make_format)};
    co_await choices.run();
    co_return;
  }
  WholeChoices choices{call, request, count};
  co_await choices.run(std::move(make_format));
}

}  // namespace hearth::api
