// SPDX-License-Identifier: Apache-2.0
#include "api/openai/reply_format.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/errors.h"
#include "api/json_text.h"
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

void append_error_event(std::string& out, const front::Refused& refused) {
  out += "data: ";
  out += error_body(Dialect::kOpenAi, Audience::kClients, refused);
  out += kEventEnd;
}

class ChatFormat : public ReplyFormat {
 public:
  ChatFormat(ReplyIdentity identity, UsageChunk usage)
      : usage_{usage},
        identity_{std::move(identity)},
        whole_head_{head(identity_, "chatcmpl", "chat.completion")},
        chunk_head_{"data: " + head(identity_, "chatcmpl", "chat.completion.chunk")},
        delta_head_{chunk_head_ + R"(,"choices":[{"index":0,"delta":)"} {}

  std::string whole(const Collected& reply, const front::Finished& end) override {
    std::string out = whole_head_;
    out += R"(,"choices":[{"index":0,"message":)";
    out += message(reply);
    out += R"(,"logprobs":null,"finish_reason":)";
    append_json_string(out, end.reason);
    out += R"(}],"usage":)";
    out += usage_json(end);
    append_tail(out, end);
    return out;
  }

  void append_first(std::string& out, const front::Started&) override {
    out += delta_head_;
    out += R"({"role":"assistant","content":"","refusal":null})";
    out += kDeltaEnd;
  }

  void append_delta(std::string& out, const front::Delta& delta) override {
    out += delta_head_;
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
    out += kDeltaEnd;
  }

  void append_end(std::string& out, const front::Finished& end) override {
    out += delta_head_;
    out += R"({},"logprobs":null,"finish_reason":)";
    append_json_string(out, end.reason);
    out += "}]";
    append_tail(out, end);
    out += kEventEnd;
    if (usage_ == UsageChunk::kYes) append_usage(out, end);
    out += kDone;
  }

  void append_error(std::string& out, const front::Refused& refused) override {
    append_error_event(out, refused);
  }

 private:
  void append_usage(std::string& out, const front::Finished& end) const {
    out += chunk_head_;
    out += R"(,"choices":[],"usage":)";
    out += usage_json(end);
    out += '}';
    out += kEventEnd;
  }

  static constexpr std::string_view kDeltaEnd = ",\"logprobs\":null,\"finish_reason\":null}]}\n\n";

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
      out += out.empty() ? '[' : ',';
      JsonWriter function;
      function.string("name", call.name).string("arguments", call.arguments);
      JsonWriter whole_call;
      whole_call.string("id", call_id(identity_, call)).string("type", "function");
      out += whole_call.raw("function", function.object()).object();
    }
    return out + ']';
  }

  const UsageChunk usage_;
  ReplyIdentity identity_;
  std::string whole_head_;
  std::string chunk_head_;
  std::string delta_head_;
};

class TextFormat : public ReplyFormat {
 public:
  TextFormat(const ReplyIdentity& identity, UsageChunk usage)
      : usage_{usage},
        head_{head(identity, "cmpl", "text_completion")},
        delta_head_{"data: " + head_ + R"(,"choices":[{"index":0,"text":)"} {}

  std::string whole(const Collected& reply, const front::Finished& end) override {
    std::string out = head_;
    out += R"(,"choices":[{"index":0,"text":)";
    append_json_string(out, reply.text);
    append_reason(out, end);
    out += R"(,"usage":)";
    out += usage_json(end);
    append_tail(out, end);
    return out;
  }

  void append_first(std::string&, const front::Started&) override {}

  void append_delta(std::string& out, const front::Delta& delta) override {
    out += delta_head_;
    append_json_string(out, delta.text);
    out += ",\"logprobs\":null,\"finish_reason\":null}]}\n\n";
  }

  void append_end(std::string& out, const front::Finished& end) override {
    out += delta_head_;
    out += "\"\"";
    append_reason(out, end);
    append_tail(out, end);
    out += kEventEnd;
    if (usage_ == UsageChunk::kYes) append_usage(out, end);
    out += kDone;
  }

  void append_error(std::string& out, const front::Refused& refused) override {
    append_error_event(out, refused);
  }

 private:
  void append_usage(std::string& out, const front::Finished& end) const {
    out += "data: ";
    out += head_;
    out += R"(,"choices":[],"usage":)";
    out += usage_json(end);
    out += '}';
    out += kEventEnd;
  }

  static void append_reason(std::string& out, const front::Finished& end) {
    out += R"(,"logprobs":null,"finish_reason":)";
    append_json_string(out, end.reason);
    out += "}]";
  }

  const UsageChunk usage_;
  std::string head_;
  std::string delta_head_;
};

double per_second(int count, double ms) { return ms > 0 ? count * 1000.0 / ms : 0; }
double each(double ms, int count) { return count > 0 ? ms / count : 0; }

}  // namespace

std::unique_ptr<ReplyFormat> chat_format(ReplyIdentity identity, UsageChunk usage) {
  return std::make_unique<ChatFormat>(std::move(identity), usage);
}

std::unique_ptr<ReplyFormat> text_format(const ReplyIdentity& identity, UsageChunk usage) {
  return std::make_unique<TextFormat>(identity, usage);
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
