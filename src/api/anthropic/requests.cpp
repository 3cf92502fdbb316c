// SPDX-License-Identifier: Apache-2.0
#include "api/anthropic/requests.h"

#include <algorithm>
#include <array>
#include <limits>

#include "api/anthropic/conversation.h"
#include "api/anthropic/tools.h"
#include "api/fields.h"
#include "api/modules.h"
#include "api/sampling.h"
#include "api/schema_check.h"

namespace hearth::api::anthropic {
namespace json = boost::json;
namespace {

constexpr int kMaxTokens = std::numeric_limits<int>::max();
constexpr int kLeastBudget = 1024;

void refuse_unsupported(const Fields& body) {
  if (body.has("container")) body.fail("container", "there are no containers here");
  const json::array* servers = body.list("mcp_servers");
  if (servers != nullptr && !servers->empty()) {
    body.fail("mcp_servers", "this server calls no other servers; offer their tools in tools");
  }
}

// The budget is theirs to name, and not kept: max_tokens bounds thinking and text together.
void read_budget(const Fields& thinking, int max_tokens) {
  if (!thinking.has("budget_tokens")) {
    thinking.fail("budget_tokens", "a number of at least 1024 is required here");
  }
  const auto budget = thinking.integer("budget_tokens", {kLeastBudget, kMaxTokens});
  if (budget && max_tokens > 0 && *budget >= max_tokens) {
    thinking.fail("budget_tokens", "must be less than max_tokens");
  }
}

void read_thinking(const Fields& body, MessagesCall& call) {
  const std::optional<Fields> thinking = body.object("thinking");
  if (!thinking) return;
  wire::GenerateMessage& message = call.generate.message;
  const std::string type = thinking->required_text("type");
  if (type == "enabled") {
    read_budget(*thinking, message.max_tokens);
    message.thinking = "on";
  } else if (type == "disabled") {
    message.thinking = "off";
  } else if (type != "adaptive") {
    thinking->fail("type", "must be enabled, disabled or adaptive");
  }
  const std::string display = thinking->text("display").value_or("summarized");
  if (display != "summarized" && display != "omitted") {
    thinking->fail("display", "must be summarized or omitted");
  }
  if (display == "omitted") call.rules.thinking = ReplyRules::Thinking::kOmitted;
}

bool is_marked(const json::value& block);

bool any_marked(const json::value* list) {
  return list != nullptr && list->is_array() && std::ranges::any_of(list->get_array(), is_marked);
}

// A block, a tool or a message with `cache_control`, or with a block that has it.
bool is_marked(const json::value& block) {
  const json::object* object = block.if_object();
  if (object == nullptr) return false;
  const json::value* mark = object->if_contains("cache_control");
  if (mark != nullptr && !mark->is_null()) return true;
  return any_marked(object->if_contains("content"));
}

ReplyRules::Caching caching_of(const Fields& body) {
  const bool asked = body.has("cache_control") || any_marked(body.find("system")) ||
                     any_marked(body.find("tools")) || any_marked(body.find("messages"));
  return asked ? ReplyRules::Caching::kAsked : ReplyRules::Caching::kUnasked;
}

void read_format(const Fields& holder, std::string_view name, wire::GenerateMessage& message) {
  const std::optional<Fields> format = holder.object(name);
  if (!format) return;
  if (format->required_text("type") != "json_schema") {
    format->fail("type", "must be json_schema");
    return;
  }
  const std::optional<Fields> schema = format->object("schema");
  if (!schema) {
    format->fail("schema", "an object is required here");
    return;
  }
  check_schema(*schema, SchemaUse::kReply);
  message.response_schema = json::serialize(schema->json());
}

// What decides the tokens of the prompt.
void read_prompt(const Fields& body, const ModelSettings& settings, MessagesCall& call) {
  wire::GenerateMessage& message = call.generate.message;
  call.generate.options.model = body.required_text("model");
  message.messages = read_conversation(body);
  begin_conversation(settings, message);
  read_modules(body, call.generate.options);
  call.rules.parallel_calls = read_tools(body, message);
  read_thinking(body, call);
  if (const auto config = body.object("output_config")) read_format(*config, "format", message);
  read_format(body, "output_format", message);
  refuse_unsupported(body);
}

void read_sampling_options(const Fields& body, wire::Sampling& sampling) {
  keep(sampling.temperature, body.number("temperature", {0, 1}));
  keep(sampling.top_p, body.number("top_p", {0, 1}));
  keep(sampling.top_k, body.integer("top_k", {0, 1 << 24}));
}

}  // namespace

Result<MessagesCall> parse_messages(const json::object& object, const ModelDefaults& defaults) {
  Fields::FirstError error;
  const Fields body{object, "", error};
  MessagesCall call;
  wire::GenerateMessage& message = call.generate.message;
  const ModelSettings settings = defaults.of(body);
  apply_parameters(settings, message);
  if (!body.has("max_tokens")) body.fail("max_tokens", "a number of tokens is required here");
  keep(message.max_tokens, body.integer("max_tokens", {1, kMaxTokens}));
  read_prompt(body, settings, call);
  read_sampling_options(body, message.sampling);
  if (body.list("stop_sequences") != nullptr) {
    read_stops(body, "stop_sequences", message.stop);
    call.rules.stops = message.stop;
  }
  call.rules.max_tokens = message.max_tokens;
  call.rules.caching = caching_of(body);
  if (body.flag("stream").value_or(false)) call.generate.delivery = front::Delivery::kStreamed;
  call.generate.options.keep_alive = read_keep_alive(body);
  call.generate.options.return_progress = read_progress(body, call.generate.delivery);
  if (error) return Failed{std::move(*error)};
  return call;
}

Result<MessagesCall> parse_count(const json::object& object, const ModelDefaults& defaults) {
  Fields::FirstError error;
  const Fields body{object, "", error};
  MessagesCall call;
  read_prompt(body, defaults.of(body), call);
  call.generate.message.count_only = true;
  if (error) return Failed{std::move(*error)};
  return call;
}

}  // namespace hearth::api::anthropic
