// SPDX-License-Identifier: Apache-2.0
#include "lab/target/reply_reader.h"

#include <algorithm>
#include <vector>

#include "base/json.h"
#include "http/line_reader.h"
#include "lab/target/json_look.h"

namespace hearth::lab {
namespace {

namespace json = boost::json;

struct Span {
  double begin_ms;
  double end_ms;
};

double union_of(std::vector<Span> spans) {
  std::ranges::sort(spans, {}, &Span::begin_ms);
  double total = 0;
  double until = 0;
  for (const Span& span : spans) {
    total += std::max(0.0, span.end_ms - std::max(span.begin_ms, until));
    until = std::max(until, span.end_ms);
  }
  return total;
}

// A stage that comes several times, or beside itself, counts as the time that it covers.
std::map<std::string, double> stages_of(const json::array& stages) {
  std::map<std::string, std::vector<Span>> spans;
  for (const json::value& stage : stages) {
    const auto begin = number_at(stage, {"start_ms"});
    const auto length = number_at(stage, {"ms"});
    if (begin && length) spans[text_at(stage, {"name"})].push_back({*begin, *begin + *length});
  }
  std::map<std::string, double> times;
  for (auto& [name, list] : spans) times[name] = union_of(std::move(list));
  return times;
}

void read_hearth(const json::value& report, Answer& answer) {
  answer.report = json::serialize(report);
  answer.response_class = text_at(report, {"class"});
  answer.verdict_code = text_at(report, {"verdict", "code"});
  answer.verdict_text = text_at(report, {"verdict", "text"});
  answer.timing.overlap_ms = number_at(report, {"overlap_ms"});
  answer.timing.other_ms = number_at(report, {"other_ms"});
  if (const json::array* stages = array_at(report, {"stages"})) {
    answer.timing.stages_ms = stages_of(*stages);
  }
}

void set_count(std::optional<int>& into, std::optional<double> count) {
  if (count) into = static_cast<int>(*count);
}

// llama.cpp's: Hearth has them too, but its own report says more.
void read_timings(const json::value& timings, Answer& answer) {
  const auto fresh = number_at(timings, {"prompt_n"});
  const auto cached = number_at(timings, {"cache_n"});
  set_count(answer.timing.cached_tokens, cached);
  if (fresh) set_count(answer.timing.prompt_tokens, *fresh + cached.value_or(0));
  if (const auto n = number_at(timings, {"predicted_n"})) {
    answer.timing.generated_tokens = static_cast<int>(*n);
  }
  if (!answer.report.empty()) return;
  answer.report = json::serialize(timings);
  if (const auto ms = number_at(timings, {"prompt_ms"})) answer.timing.stages_ms["prefill"] = *ms;
  if (const auto ms = number_at(timings, {"predicted_ms"})) answer.timing.stages_ms["decode"] = *ms;
}

void read_usage(const json::value& usage, Answer& answer) {
  set_count(answer.timing.prompt_tokens, number_at(usage, {"prompt_tokens"}));
  set_count(answer.timing.cached_tokens,
            number_at(usage, {"prompt_tokens_details", "cached_tokens"}));
  if (const auto n = number_at(usage, {"completion_tokens"})) {
    answer.timing.generated_tokens = static_cast<int>(*n);
  }
}

std::string error_in(const json::value& event) {
  if (look(event, {"error"}) == nullptr) return {};
  std::string message = text_at(event, {"error", "message"});
  if (message.empty()) message = text_at(event, {"error"});
  return message.empty() ? "an error without a message" : message;
}

class OpenAiReader : public ReplyReader {
 public:
  AfterLine line(std::string_view line, double ms) override {
    if (line.empty() || line.starts_with(':')) return AfterLine::kMore;
    if (line.starts_with("event:") || line.starts_with("id:") || line.starts_with("retry:")) {
      return AfterLine::kMore;
    }
    const std::optional<std::string_view> data = http::event_data(line);
    if (!data) return AfterLine::kGarbage;
    if (*data == "[DONE]") return AfterLine::kEnd;
    const Result<json::value> event = parse_json(*data);
    if (!event || !event->is_object()) return AfterLine::kGarbage;
    return take(*event, ms);
  }

 private:
  AfterLine take(const json::value& event, double ms) {
    if (std::string message = error_in(event); !message.empty()) {
      fail(std::move(message));
      return AfterLine::kEnd;
    }
    if (std::string model = text_at(event, {"model"}); !model.empty()) answer_.model = model;
    if (const json::array* choices = array_at(event, {"choices"})) {
      for (const json::value& choice : *choices) take_choice(choice, ms);
    }
    if (const json::value* report = look(event, {"hearth"})) read_hearth(*report, answer_);
    if (const json::value* timings = look(event, {"timings"})) read_timings(*timings, answer_);
    if (const json::value* usage = look(event, {"usage"})) read_usage(*usage, answer_);
    return AfterLine::kMore;
  }

  void take_choice(const json::value& choice, double ms) {
    text(text_at(choice, {"text"}), ms);
    text(text_at(choice, {"delta", "reasoning_content"}), ms);
    text(text_at(choice, {"delta", "content"}), ms);
  }
};

class OllamaReader : public ReplyReader {
 public:
  AfterLine line(std::string_view line, double ms) override {
    if (line.empty()) return AfterLine::kMore;
    const Result<json::value> event = parse_json(line);
    if (!event || !event->is_object()) return AfterLine::kGarbage;
    if (std::string message = error_in(*event); !message.empty()) {
      fail(std::move(message));
      return AfterLine::kEnd;
    }
    if (std::string model = text_at(*event, {"model"}); !model.empty()) answer_.model = model;
    text(text_at(*event, {"thinking"}), ms);
    text(text_at(*event, {"response"}), ms);
    if (!true_at(*event, {"done"})) return AfterLine::kMore;
    take_end(*event);
    return AfterLine::kEnd;
  }

 private:
  void take_end(const json::value& end) {
    if (const json::value* report = look(end, {"hearth"})) {
      read_hearth(*report, answer_);
    } else {
      read_durations(end);
    }
    set_count(answer_.timing.prompt_tokens, number_at(end, {"prompt_eval_count"}));
    set_count(answer_.timing.cached_tokens, number_at(end, {"prompt_eval_cached_count"}));
    if (const auto n = number_at(end, {"eval_count"})) {
      answer_.timing.generated_tokens = static_cast<int>(*n);
    }
  }

  void read_durations(json::value end) {
    constexpr std::pair<const char*, const char*> kStages[] = {{"load_duration", "load"},
                                                               {"prompt_eval_duration", "prefill"},
                                                               {"eval_duration", "decode"}};
    for (const auto& [member, stage] : kStages) {
      if (const auto ns = number_at(end, {member})) answer_.timing.stages_ms[stage] = *ns / 1e6;
    }
    end.as_object().erase("context");  // the tokens; long, and of no use here
    answer_.report = json::serialize(end);
  }
};

}  // namespace

void ReplyReader::text(std::string_view piece, double ms) {
  if (piece.empty()) return;
  if (!answer_.timing.first_token_ms) answer_.timing.first_token_ms = ms;
  last_text_ms_ = ms;
  answer_.text += piece;
  ++pieces_;
}

Answer ReplyReader::finish(const StreamOutcome& outcome) {
  answer_.ending = outcome.ending;
  answer_.problem = outcome.problem;
  if (outcome.ending == Answer::Ending::kDone && !failure_.empty()) {
    answer_.ending = Answer::Ending::kBroken;
    answer_.problem = failure_;
  }
  Timing& timing = answer_.timing;
  timing.total_ms = outcome.total_ms;
  if (timing.generated_tokens == 0) timing.generated_tokens = pieces_;
  if (timing.first_token_ms && *last_text_ms_ > *timing.first_token_ms && pieces_ > 1) {
    const double seconds = (*last_text_ms_ - *timing.first_token_ms) / 1000;
    timing.tokens_per_second = (timing.generated_tokens - 1) / seconds;
  }
  return answer_;
}

std::unique_ptr<ReplyReader> ReplyReader::of(Dialect dialect) {
  if (dialect == Dialect::kOllama) return std::make_unique<OllamaReader>();
  return std::make_unique<OpenAiReader>();
}

}  // namespace hearth::lab
