// SPDX-License-Identifier: Apache-2.0
#include "api/anthropic/reply_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "api/errors.h"
#include "base/json.h"
#include "timeline/json_writer.h"
#include "timeline/report.h"

namespace hearth::api::anthropic {
namespace {

void append_event(std::string& out, std::string_view type, std::string_view data) {
  out += "event: ";
  out += type;
  out += "\ndata: ";
  out += data;
  out += "\n\n";
}

// Which block of the reply a piece belongs to.
struct Place {
  enum class Kind { kNone, kThinking, kText, kCall };

  Kind kind = Kind::kNone;
  int call = 0;

  friend bool operator==(const Place&, const Place&) = default;
};

std::string text_block(std::string_view text) {
  return JsonWriter{}.string("type", "text").string("text", text).object();
}

// Thinking is not signed here; clients want the member all the same.
std::string thinking_block(std::string_view text) {
  return JsonWriter{}
      .string("type", "thinking")
      .string("thinking", text)
      .string("signature", "")
      .object();
}

// Arguments that were cut short must not look like whole ones.
std::string input_json(const std::string& arguments) {
  const auto parsed = parse_json(arguments.empty() ? "{}" : arguments);
  if (parsed && parsed->is_object()) return boost::json::serialize(*parsed);
  return JsonWriter{}.string("INVALID_JSON", arguments).object();
}

struct Counts {
  int evaluated = 0;  // of the prompt
  int cached = 0;
  int generated = 0;
  bool kept = false;  // what was evaluated is kept, as the client asked
};

std::string usage_json(const Counts& counts) {
  const int created = counts.kept ? counts.evaluated : 0;
  JsonWriter creation;
  creation.integer("ephemeral_5m_input_tokens", created);
  creation.integer("ephemeral_1h_input_tokens", 0);
  JsonWriter out;
  out.integer("input_tokens", counts.evaluated - created);
  out.integer("cache_creation_input_tokens", created);
  out.integer("cache_read_input_tokens", counts.cached);
  out.raw("cache_creation", creation.object());
  return out.integer("output_tokens", counts.generated).object();
}

class MessageFormat : public ReplyFormat {
 public:
  MessageFormat(ReplyIdentity identity, ReplyRules rules)
      : identity_{std::move(identity)}, rules_{std::move(rules)} {}

  std::string whole(const Collected& reply, const front::Finished& end) override {
    JsonWriter out = head();
    out.raw("content", blocks(reply));
    add_stop(out, end);
    out.raw("usage", usage_json(counts_of(end, end.generated)));
    return out.raw("hearth", to_json(end.report)).object();
  }

  void append_first(std::string& out, const front::Started& started) override {
    JsonWriter message = head();
    message.raw("content", "[]").null("stop_reason").null("stop_sequence");
    message.raw("usage", usage_json(counts_of(started, 0)));
    JsonWriter event;
    event.string("type", "message_start").raw("message", message.object());
    append_event(out, "message_start", event.object());
    append_event(out, "ping", R"({"type":"ping"})");
  }

  void append_delta(std::string& out, const front::Delta& delta) override {
    if (!delta.reasoning.empty() && rules_.thinking == ReplyRules::Thinking::kShown) {
      go_to(out, {Place::Kind::kThinking}, thinking_block(""));
      append_piece(out, "thinking_delta", "thinking", delta.reasoning);
    }
    if (!delta.text.empty()) {
      go_to(out, {Place::Kind::kText}, text_block(""));
      append_piece(out, "text_delta", "text", delta.text);
    }
    for (const wire::ToolCallDelta& call : delta.tool_calls) {
      if (!is_wanted(call)) continue;
      go_to(out, {Place::Kind::kCall, call.index}, call_block(call, "{}"));
      append_piece(out, "input_json_delta", "partial_json", call.arguments);
    }
  }

  void append_end(std::string& out, const front::Finished& end) override {
    // Clients read the first block without asking whether there is one.
    if (place_.kind == Place::Kind::kNone) go_to(out, {Place::Kind::kText}, text_block(""));
    append_block_end(out);
    JsonWriter delta;
    add_stop(delta, end);
    JsonWriter event;
    event.string("type", "message_delta").raw("delta", delta.object());
    event.raw("usage", usage_json(counts_of(end, end.generated)));
    event.raw("hearth", to_json(end.report));
    append_event(out, "message_delta", event.object());
    append_event(out, "message_stop", R"({"type":"message_stop"})");
  }

  void append_error(std::string& out, const front::Refused& refused) override {
    append_event(out, "error", error_body(Dialect::kAnthropic, Audience::kClients, refused));
  }

 private:
  // `at`: Started or Finished.
  template <class Event>
  Counts counts_of(const Event& at, int generated) const {
    // Without a prefix layer nothing is kept.
    const bool kept = rules_.caching == ReplyRules::Caching::kAsked && at.report.prefix;
    return {std::max(0, at.prompt_tokens - at.cached_tokens), at.cached_tokens, generated, kept};
  }

  JsonWriter head() const {
    JsonWriter out;
    out.string("id", "msg_" + identity_.request_id).string("type", "message");
    return out.string("role", "assistant").string("model", identity_.model);
  }

  void add_stop(JsonWriter& out, const front::Finished& end) const {
    out.string("stop_reason", stop_reason(end));
    if (is_clients(end.stopped_by)) {
      out.string("stop_sequence", end.stopped_by);
    } else {
      out.null("stop_sequence");
    }
  }

  bool is_clients(const std::string& stop) const {
    return std::ranges::find(rules_.stops, stop) != rules_.stops.end();
  }

  std::string_view stop_reason(const front::Finished& end) const {
    if (end.reason == "tool_calls") return "tool_use";
    if (end.reason == "length") {
      return end.generated < rules_.max_tokens ? "model_context_window_exceeded" : "max_tokens";
    }
    return is_clients(end.stopped_by) ? "stop_sequence" : "end_turn";
  }

  bool is_wanted(const wire::ToolCallDelta& call) const {
    return call.index == 0 || rules_.parallel_calls == ParallelCalls::kAllowed;
  }

  std::string call_block(const wire::ToolCallDelta& call, std::string_view input) const {
    JsonWriter out;
    out.string("type", "tool_use");
    out.string("id", call.id.empty() ? fmt::format("toolu_{}_{}", identity_.request_id, call.index)
                                     : call.id);
    return out.string("name", call.name).raw("input", input).object();
  }

  std::string blocks(const Collected& reply) const {
    std::vector<std::string> blocks;
    if (!reply.reasoning.empty() && rules_.thinking == ReplyRules::Thinking::kShown) {
      blocks.push_back(thinking_block(reply.reasoning));
    }
    if (!reply.text.empty()) blocks.push_back(text_block(reply.text));
    for (const wire::ToolCallDelta& call : reply.tool_calls) {
      if (is_wanted(call)) blocks.push_back(call_block(call, input_json(call.arguments)));
    }
    if (blocks.empty()) blocks.push_back(text_block(""));
    return fmt::format("[{}]", fmt::join(blocks, ","));
  }

  // Ends the block that is open and begins the next, unless `place` is where we are.
  void go_to(std::string& out, Place place, std::string_view block) {
    if (place == place_) return;
    append_block_end(out);
    place_ = place;
    ++index_;
    JsonWriter event;
    event.string("type", "content_block_start").integer("index", index_);
    append_event(out, "content_block_start", event.raw("content_block", block).object());
  }

  void append_block_end(std::string& out) {
    if (place_.kind == Place::Kind::kNone) return;
    place_ = {};
    JsonWriter event;
    event.string("type", "content_block_stop").integer("index", index_);
    append_event(out, "content_block_stop", event.object());
  }

  void append_piece(std::string& out, std::string_view type, std::string_view name,
                    std::string_view text) const {
    JsonWriter delta;
    delta.string("type", type).string(name, text);
    JsonWriter event;
    event.string("type", "content_block_delta").integer("index", index_);
    append_event(out, "content_block_delta", event.raw("delta", delta.object()).object());
  }

  const ReplyIdentity identity_;
  const ReplyRules rules_;
  Place place_;     // the block that is open
  int index_ = -1;  // of the newest block
};

}  // namespace

std::unique_ptr<ReplyFormat> message_format(ReplyIdentity identity, ReplyRules rules) {
  return std::make_unique<MessageFormat>(std::move(identity), std::move(rules));
}

}  // namespace hearth::api::anthropic
