// SPDX-License-Identifier: Apache-2.0
#include "api/ollama/reply_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <optional>
#include <span>

#include "api/errors.h"
#include "api/logprob_json.h"
#include "api/ollama/figures.h"
#include "base/json.h"
#include "timeline/json_writer.h"

namespace hearth::api::ollama {
namespace {

// What one line says of the reply.
struct Piece {
  std::string_view text;
  std::string_view thinking;
  std::string calls;  // a JSON list, or empty
  std::span<const wire::TokenLogprob> logprobs = {};
};

std::string_view reason_of(const front::Finished& end) {
  return end.reason == "length" ? "length" : "stop";
}

std::string numbers(const std::vector<int>& tokens) {
  return fmt::format("[{}]", fmt::join(tokens, ","));
}

JsonWriter head(const std::string& model, const Clock& clock) {
  JsonWriter line;
  line.string("model", model).string("created_at", rfc3339(clock.wall_us()));
  return line;
}

void add_piece(JsonWriter& line, Shape shape, const Piece& piece) {
  JsonWriter message;
  JsonWriter& holder = shape == Shape::kChat ? message : line;
  if (shape == Shape::kChat) message.string("role", "assistant");
  holder.string(shape == Shape::kChat ? "content" : "response", piece.text);
  if (!piece.thinking.empty()) holder.string("thinking", piece.thinking);
  if (!piece.calls.empty()) holder.raw("tool_calls", piece.calls);
  if (shape == Shape::kChat) line.raw("message", message.object());
  if (!piece.logprobs.empty()) line.raw("logprobs", logprob_list(piece.logprobs));
}

// Nothing when its arguments are no whole object.
std::optional<std::string> call_json(const wire::ToolCallDelta& call, const std::string& request) {
  const auto arguments = parse_json(call.arguments.empty() ? "{}" : call.arguments);
  if (!arguments || !arguments->is_object()) return std::nullopt;
  JsonWriter function;
  function.integer("index", call.index).string("name", call.name);
  function.raw("arguments", boost::json::serialize(*arguments));
  JsonWriter out;
  out.string("id", call.id.empty() ? fmt::format("call_{}_{}", request, call.index) : call.id);
  return out.raw("function", function.object()).object();
}

class LineFormat : public ReplyFormat {
 public:
  LineFormat(ReplyIdentity identity, Shape shape, const Clock& clock)
      : identity_{std::move(identity)}, shape_{shape}, clock_{clock} {}

  std::string whole(const Collected& reply, const front::Finished& end) override {
    open_calls_.tool_calls = reply.tool_calls;
    std::string rest;
    std::string calls = take_calls(0, rest);
    rest = reply.text + rest;
    return done({rest, reply.reasoning, std::move(calls), reply.logprobs}, end);
  }
  std::string_view whole_content_type() const override { return kJson; }
  std::string_view content_type() const override { return kNdjson; }

  void append_progress(std::string& out, const front::Progress& progress) override {
    JsonWriter line = head(identity_.asked_model, clock_);
    add_piece(line, shape_, {});
    line.raw("hearth_progress", progress_json(progress));
    append(out, line.raw("done", "false"));
  }

  void append_first(std::string&, const front::Started&) override {}

  void append_delta(std::string& out, const front::Delta& delta) override {
    if (!delta.text.empty() || !delta.reasoning.empty() || !delta.logprobs.empty()) {
      append_piece(out, {delta.text, delta.reasoning, "", delta.logprobs});
    }
    if (delta.tool_calls.empty()) return;
    front::Delta calls;
    calls.tool_calls = delta.tool_calls;
    open_calls_.add(calls);
    append_calls(out, 1);
  }

  void append_end(std::string& out, const front::Finished& end) override {
    append_calls(out, 0);
    out += done({}, end);
    out += '\n';
  }

  void append_error(std::string& out, const front::Refused& refused) override {
    out += error_body(Dialect::kOllama, Audience::kClients, refused);
    out += '\n';
  }

 private:
  static void append(std::string& out, const JsonWriter& line) {
    out += line.object();
    out += '\n';
  }

  void append_piece(std::string& out, const Piece& piece) const {
    JsonWriter line = head(identity_.asked_model, clock_);
    add_piece(line, shape_, piece);
    append(out, line.raw("done", "false"));
  }

  void append_calls(std::string& out, std::size_t still_open) {
    std::string rest;
    std::string calls = take_calls(still_open, rest);
    if (!calls.empty() || !rest.empty()) append_piece(out, {rest, "", std::move(calls)});
  }

  // Takes all calls but the last `still_open`, as a list; what is no whole call goes to `rest`.
  std::string take_calls(std::size_t still_open, std::string& rest) {
    auto& calls = open_calls_.tool_calls;
    const std::size_t count = calls.size() - std::min(still_open, calls.size());
    std::string list;
    for (std::size_t i = 0; i < count; ++i) {
      if (const auto json = call_json(calls[i], identity_.request_id)) {
        list += list.empty() ? "[" : ",";
        list += *json;
      } else {
        rest += calls[i].name + calls[i].arguments;
      }
    }
    calls.erase(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(count));
    return list.empty() ? list : list + "]";
  }

  std::string done(const Piece& piece, const front::Finished& end) const {
    JsonWriter line = head(identity_.asked_model, clock_);
    add_piece(line, shape_, piece);
    line.raw("done", "true").string("done_reason", reason_of(end));
    if (shape_ == Shape::kGenerate && !end.tokens.empty()) {
      line.raw("context", numbers(end.tokens));
    }
    add_figures(line, end);
    return line.object();
  }

  const ReplyIdentity identity_;
  const Shape shape_;
  const Clock& clock_;
  Collected open_calls_;  // not sent yet
};

}  // namespace

std::unique_ptr<ReplyFormat> line_format(ReplyIdentity identity, Shape shape, const Clock& clock) {
  return std::make_unique<LineFormat>(std::move(identity), shape, clock);
}

std::string done_line(const std::string& model, Shape shape, const Clock& clock,
                      std::string_view reason, const RequestReport& report) {
  JsonWriter line = head(model, clock);
  add_piece(line, shape, {});
  line.raw("done", "true").string("done_reason", reason);
  add_durations(line, report);
  if (!report.request_id.empty()) line.raw("hearth", to_json(report));
  return line.object();
}

}  // namespace hearth::api::ollama
