// SPDX-License-Identifier: Apache-2.0
#include "api/openai/reply_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "api/errors.h"
#include "api/json_text.h"
#include "api/logprob_json.h"
#include "api/openai/completion_logprobs.h"
#include "timeline/json_writer.h"
#include "timeline/report.h"

namespace hearth::api::openai {
namespace {

constexpr std::string_view kEventEnd = "\n\n";
constexpr std::string_view kDone = "data: [DONE]\n\n";

std::string call_id(const ReplyIdentity& identity, const wire::ToolCallDelta& call) {
  return call.id.empty() ? fmt::format("call_{}_{}", identity.request_id, call.index) : call.id;
}

// `{"id":…,"object":…,"created":…,"model":…,"system_fingerprint":…` without its end.
std::string head(const ReplyIdentity& identity, std::string_view prefix, std::string_view object) {
  JsonWriter out;
  out.string("id", fmt::format("{}-{}", prefix, identity.request_id)).string("object", object);
  out.integer("created", identity.created_us / 1'000'000).string("model", identity.model);
  std::string text = out.string("system_fingerprint", identity.fingerprint).object();
  text.pop_back();
  return text;
}

// What follows the last choice of a reply, up to the end of its JSON.
void append_tail(std::string& out, const front::Finished& end) {
  out += ",\"timings\":";
  out += timings_json(end);
  out += ",\"hearth\":";
  out += to_json(end.report);
  out += '}';
}

// A format for several choices as one for a single one, the first.
class OneChoice : public ReplyFormat {
 public:
  explicit OneChoice(std::unique_ptr<ChoicesFormat> choices) : choices_{std::move(choices)} {}

  std::string whole(const Collected& reply, const front::Finished& end) override {
    return choices_->whole({Choice{reply, end}}, end);
  }
  void append_first(std::string& out, const front::Started&) override {
    choices_->append_first(out, 0);
  }
  void append_delta(std::string& out, const front::Delta& delta) override {
    choices_->append_delta(out, 0, delta);
  }
  void append_end(std::string& out, const front::Finished& end) override {
    choices_->append_choice_end(out, 0, end);
    choices_->append_end(out, end);
  }
  void append_error(std::string& out, const front::Refused& refused) override {
    choices_->append_error(out, refused);
  }

 private:
  std::unique_ptr<ChoicesFormat> choices_;
};

// What chats and plain texts have in common.
class EventFormat : public ChoicesFormat {
 public:
  EventFormat(std::string whole_head, const std::string& chunk_head, UsageChunk usage)
      : whole_head_{std::move(whole_head)}, chunk_head_{"data: " + chunk_head}, usage_{usage} {}

  std::string whole(const std::vector<Choice>& choices, const front::Finished& total) override {
    std::string out = whole_head_ + R"(,"choices":[)";
    for (std::size_t i = 0; i < choices.size(); ++i) {
      if (i > 0) out += ',';
      out += fmt::format(R"({{"index":{},)", i);
      append_body(out, static_cast<int>(i), choices[i].reply);
      append_reason(out, choices[i].end);
    }
    out += R"(],"usage":)";
    out += usage_json(total);
    append_tail(out, total);
    return out;
  }

  void append_choice_end(std::string& out, int index, const front::Finished& end) override {
    append_chunk_head(out, index);
    append_last_delta(out);
    out += R"(,"logprobs":null)";
    append_reason(out, end);
    out += ']';
    append_tail(out, end);
    out += kEventEnd;
  }

  void append_end(std::string& out, const front::Finished& total) override {
    if (usage_ == UsageChunk::kYes) {
      out += chunk_head_;
      out += R"(,"choices":[],"usage":)";
      out += usage_json(total);
      out += '}';
      out += kEventEnd;
    }
    out += kDone;
  }

  void append_error(std::string& out, const front::Refused& refused) override {
    out += "data: ";
    out += error_body(Dialect::kOpenAi, Audience::kClients, refused);
    out += kEventEnd;
  }

 protected:
  // The members of a whole choice between `index` and `finish_reason`, and of the last piece of a
  // streamed one.
  virtual void append_body(std::string& out, int index, const Collected& reply) = 0;
  virtual void append_last_delta(std::string& out) const = 0;

  void append_chunk_head(std::string& out, int index) const {
    out += chunk_head_;
    out += R"(,"choices":[{"index":)";
    out += std::to_string(index);
    out += ',';
  }
  static void append_chunk_end(std::string& out) { out += ",\"finish_reason\":null}]}\n\n"; }

 private:
  static void append_reason(std::string& out, const front::Finished& end) {
    out += R"(,"finish_reason":)";
    append_json_string(out, end.reason);
    out += '}';
  }

  const std::string whole_head_;
  const std::string chunk_head_;
  const UsageChunk usage_;
};

class ChatChoices : public EventFormat {
 public:
  ChatChoices(ReplyIdentity identity, UsageChunk usage, ParallelCalls parallel)
      : EventFormat{head(identity, "chatcmpl", "chat.completion"),
                    head(identity, "chatcmpl", "chat.completion.chunk"), usage},
        identity_{std::move(identity)},
        parallel_{parallel} {}

  void append_first(std::string& out, int index) override {
    append_chunk_head(out, index);
    out += R"("delta":{"role":"assistant","content":"","refusal":null},"logprobs":null)";
    append_chunk_end(out);
  }

  void append_delta(std::string& out, int index, const front::Delta& delta) override {
    if (std::ranges::all_of(delta.tool_calls, [this](const auto& call) { return is_told(call); })) {
      return append_told(out, index, delta);
    }
    front::Delta told = delta;
    std::erase_if(told.tool_calls, [this](const auto& call) { return !is_told(call); });
    if (told.tool_calls.empty() && told.text.empty() && told.reasoning.empty()) return;
    append_told(out, index, told);
  }

 protected:
  void append_body(std::string& out, int, const Collected& reply) override {
    out += R"("message":)";
    out += message(reply);
    append_logprobs(out, reply.logprobs);
  }
  void append_last_delta(std::string& out) const override { out += R"("delta":{})"; }

 private:
  bool is_told(const wire::ToolCallDelta& call) const {
    return call.index == 0 || parallel_ == ParallelCalls::kAllowed;
  }

  void append_told(std::string& out, int index, const front::Delta& delta) {
    append_chunk_head(out, index);
    out += R"("delta":)";
    append_pieces(out, delta);
    append_logprobs(out, delta.logprobs);
    append_chunk_end(out);
  }

  void append_pieces(std::string& out, const front::Delta& delta) const {
    char separator = '{';
    const auto member = [&](std::string_view name) {
      out += separator;
      separator = ',';
      out += name;
    };
    if (!delta.reasoning.empty()) {
      member("\"reasoning_content\":");
      append_json_string(out, delta.reasoning);
    }
    if (!delta.text.empty() || (delta.reasoning.empty() && delta.tool_calls.empty())) {
      member("\"content\":");
      append_json_string(out, delta.text);
    }
    if (!delta.tool_calls.empty()) {
      member("\"tool_calls\":");
      append_call_parts(out, delta.tool_calls);
    }
    out += '}';
  }

  static void append_logprobs(std::string& out, std::span<const wire::TokenLogprob> tokens) {
    out += R"(,"logprobs":)";
    if (tokens.empty()) {
      out += "null";
      return;
    }
    out += R"({"content":)";
    out += logprob_list(tokens);
    out += R"(,"refusal":null})";
  }

  void append_call_parts(std::string& out, const std::vector<wire::ToolCallDelta>& calls) const {
    char separator = '[';
    for (const wire::ToolCallDelta& call : calls) {
      out += separator;
      separator = ',';
      JsonWriter function;
      if (!call.name.empty()) function.string("name", call.name);
      function.string("arguments", call.arguments);
      JsonWriter part;
      part.integer("index", call.index);
      if (!call.name.empty())
        part.string("id", call_id(identity_, call)).string("type", "function");
      out += part.raw("function", function.object()).object();
    }
    out += ']';
  }

  std::string message(const Collected& reply) const {
    JsonWriter out;
    out.string("role", "assistant");
    if (reply.text.empty() && !reply.tool_calls.empty()) {
      out.raw("content", "null");
    } else {
      out.string("content", reply.text);
    }
    out.raw("refusal", "null");
    if (!reply.reasoning.empty()) out.string("reasoning_content", reply.reasoning);
    if (!reply.tool_calls.empty()) out.raw("tool_calls", whole_calls(reply.tool_calls));
    return out.object();
  }

  std::string whole_calls(const std::vector<wire::ToolCallDelta>& calls) const {
    std::string out;
    for (const wire::ToolCallDelta& call : calls) {
      if (!is_told(call)) continue;
      out += out.empty() ? '[' : ',';
      JsonWriter function;
      function.string("name", call.name).string("arguments", call.arguments);
      JsonWriter whole_call;
      whole_call.string("id", call_id(identity_, call)).string("type", "function");
      out += whole_call.raw("function", function.object()).object();
    }
    return out + ']';
  }

  ReplyIdentity identity_;
  ParallelCalls parallel_;
};

class TextChoices : public EventFormat {
 public:
  TextChoices(const ReplyIdentity& identity, UsageChunk usage)
      : EventFormat{head(identity, "cmpl", "text_completion"),
                    head(identity, "cmpl", "text_completion"), usage} {}

  void append_first(std::string&, int) override {}

  void append_delta(std::string& out, int index, const front::Delta& delta) override {
    append_chunk_head(out, index);
    append_text(out, index, delta.text, delta.logprobs);
    append_chunk_end(out);
  }

 protected:
  void append_body(std::string& out, int index, const Collected& reply) override {
    append_text(out, index, reply.text, reply.logprobs);
  }
  void append_last_delta(std::string& out) const override { out += R"("text":"")"; }

 private:
  void append_text(std::string& out, int index, const std::string& text,
                   std::span<const wire::TokenLogprob> tokens) {
    out += R"("text":)";
    append_json_string(out, text);
    out += R"(,"logprobs":)";
    out += logprobs_[index].json(tokens);
  }

  std::map<int, CompletionLogprobs> logprobs_;  // by choice
};

double per_second(int count, double ms) { return ms > 0 ? count * 1000.0 / ms : 0; }
double each(double ms, int count) { return count > 0 ? ms / count : 0; }

}  // namespace

std::unique_ptr<ChoicesFormat> chat_choices(ReplyIdentity identity, UsageChunk usage,
                                            ParallelCalls parallel) {
  return std::make_unique<ChatChoices>(std::move(identity), usage, parallel);
}

std::unique_ptr<ChoicesFormat> text_choices(const ReplyIdentity& identity, UsageChunk usage) {
  return std::make_unique<TextChoices>(identity, usage);
}

std::unique_ptr<ReplyFormat> chat_format(ReplyIdentity identity, UsageChunk usage,
                                         ParallelCalls parallel) {
  return std::make_unique<OneChoice>(chat_choices(std::move(identity), usage, parallel));
}

std::unique_ptr<ReplyFormat> text_format(const ReplyIdentity& identity, UsageChunk usage) {
  return std::make_unique<OneChoice>(text_choices(identity, usage));
}

std::string usage_json(const front::Finished& end) {
  JsonWriter out;
  out.integer("prompt_tokens", end.prompt_tokens).integer("completion_tokens", end.generated);
  out.integer("total_tokens", end.prompt_tokens + end.generated);
  JsonWriter details;
  details.integer("cached_tokens", end.cached_tokens);
  return out.raw("prompt_tokens_details", details.object()).object();
}

std::string timings_json(const front::Finished& end) {
  const int evaluated = std::max(0, end.prompt_tokens - end.cached_tokens);
  JsonWriter out;
  out.integer("cache_n", end.cached_tokens).integer("prompt_n", evaluated);
  out.number("prompt_ms", end.prompt_ms);
  out.number("prompt_per_token_ms", each(end.prompt_ms, evaluated));
  out.number("prompt_per_second", per_second(evaluated, end.prompt_ms));
  out.integer("predicted_n", end.generated).number("predicted_ms", end.generated_ms);
  out.number("predicted_per_token_ms", each(end.generated_ms, end.generated));
  out.number("predicted_per_second", per_second(end.generated, end.generated_ms));
  return out.object();
}

}  // namespace hearth::api::openai
