// SPDX-License-Identifier: Apache-2.0
#include "api/responses/requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "api/fields.h"
#include "api/modules.h"
#include "api/responses/items.h"
#include "api/responses/tools.h"
#include "api/sampling.h"

namespace hearth::api::responses {
namespace json = boost::json;
namespace {

constexpr int kMaxTokens = std::numeric_limits<int>::max();
constexpr std::size_t kMostMetadata = 16;

struct RefusedField {
  std::string_view name;
  std::string_view reason;
  std::string_view nothing = {};  // what asks for nothing, as JSON; null always does
};

constexpr std::array kRefusedFields{
    RefusedField{"background", "replies are not made in the background", "false"},
    RefusedField{"conversation", "conversations are kept by previous_response_id"},
    RefusedField{"prompt", "there are no stored prompts; send instructions and input"},
    RefusedField{"top_logprobs", "log probabilities are not supported yet", "0"},
    RefusedField{"context_management", "conversations are not compacted", "[]"},
};

void refuse_unsupported(const Fields& body) {
  for (const RefusedField& refused : kRefusedFields) {
    const json::value* value = body.find(refused.name);
    if (value == nullptr || json::serialize(*value) == refused.nothing) continue;
    body.fail(refused.name, std::string{refused.reason});
  }
  const std::optional<Fields> stream = body.object("stream_options");
  if (stream && stream->flag("include_obfuscation").value_or(false)) {
    stream->fail("include_obfuscation", "events are not padded here");
  }
  const std::string tier = body.text("service_tier").value_or("auto");
  if (tier != "auto" && tier != "default") {
    body.fail("service_tier", "there is one tier here: auto or default");
  }
}

// What may be included is there in any case, or never.
void read_include(const Fields& body) {
  const json::array* include = body.list("include");
  if (include == nullptr) return;
  for (std::size_t i = 0; i < include->size(); ++i) {
    if ((*include)[i] == json::value("reasoning.encrypted_content")) continue;
    body.fail_at(fmt::format("include[{}]", i),
                 "cannot be included; reasoning.encrypted_content can: reasoning items come "
                 "readable, and are taken back so");
  }
}

void read_metadata(const Fields& body) {
  const std::optional<Fields> metadata = body.object("metadata");
  if (!metadata) return;
  if (metadata->json().size() > kMostMetadata) {
    body.fail("metadata", fmt::format("at most {} members are possible", kMostMetadata));
  }
  for (const auto& member : metadata->json()) (void)metadata->text(member.key());
}

void read_effort(const Fields& reasoning, wire::GenerateMessage& message) {
  static constexpr std::array<std::string_view, 7> kEfforts{"none", "minimal", "low", "medium",
                                                            "high", "xhigh",   "max"};
  const auto effort = reasoning.text("effort");
  if (!effort) return;
  if (std::ranges::find(kEfforts, *effort) == kEfforts.end()) {
    reasoning.fail("effort", "must be one of none, minimal, low, medium, high, xhigh, max");
    return;
  }
  message.thinking = *effort == "none" ? "off" : "on";
  if (*effort == "none") return;
  json::object kwargs;  // for templates that know degrees
  kwargs["reasoning_effort"] = *effort;
  message.template_kwargs = json::serialize(kwargs);
}

void read_reasoning(const Fields& body, ResponseCall& call) {
  const std::optional<Fields> reasoning = body.object("reasoning");
  if (!reasoning) return;
  read_effort(*reasoning, call.generate.message);
  for (std::string_view name : {"summary", "generate_summary"}) {
    const auto summary = reasoning->text(name);
    if (!summary) continue;
    if (*summary != "auto" && *summary != "concise" && *summary != "detailed") {
      reasoning->fail(name, "must be auto, concise or detailed");
    }
    call.output.reasoning = ReasoningAs::kSummary;
  }
}

void read_conversation(const Fields& body, const Earlier& earlier, const ModelSettings& settings,
                       ResponseCall& call) {
  Turns turns;
  if (const auto instructions = body.text("instructions")) turns.add_text("system", *instructions);
  Fields::FirstError theirs;  // they were read once, and are not this request's fault
  for (const json::array& items : earlier) {
    json::object one;
    one["items"] = items;
    read_items(Fields{one, "", theirs}, "items", turns);
  }
  read_items(body, "input", turns);
  if (theirs) body.fail("previous_response_id", "what was kept of it cannot be read");
  wire::GenerateMessage& message = call.generate.message;
  message.messages = turns.text();
  if (message.messages == "[]") body.fail("input", "there is nothing to answer");
  begin_conversation(settings, message);
}

// What decides the tokens of the prompt.
void read_prompt(const Fields& body, const Earlier& earlier, const ModelSettings& settings,
                 ResponseCall& call) {
  call.generate.options.model = body.required_text("model");
  call.previous = body.text("previous_response_id").value_or("");
  if (const json::value* input = body.find("input")) call.input = *input;
  read_conversation(body, earlier, settings, call);
  read_modules(body, call.generate.options);
  call.output.parallel_calls = read_tools(body, call.generate.message);
  read_text_format(body, call.generate.message);
  read_reasoning(body, call);
  const std::string truncation = body.text("truncation").value_or("disabled");
  if (truncation != "disabled" && truncation != "auto") {
    body.fail("truncation", "must be auto or disabled");
  }
  call.generate.message.truncate = truncation == "auto";
}

void read_how(const Fields& body, ResponseCall& call) {
  wire::GenerateMessage& message = call.generate.message;
  read_sampling(body, message.sampling);
  read_stops(body, "stop", message.stop);
  keep(message.max_tokens, body.integer("max_output_tokens", {1, kMaxTokens}));
  keep(message.cache_prompt, body.flag("cache_prompt"));
  (void)body.integer("max_tool_calls", {0, kMaxTokens});  // of tools that the server would run
  keep(call.store, body.flag("store"));
  if (body.flag("stream").value_or(false)) call.generate.delivery = front::Delivery::kStreamed;
  call.generate.options.keep_alive = read_keep_alive(body);
  call.generate.options.return_progress = read_progress(body, call.generate.delivery);
}

json::value member_or(const Fields& body, std::string_view name, json::value otherwise) {
  const json::value* value = body.find(name);
  return value == nullptr ? otherwise : *value;
}

json::object echoed_reasoning(const Fields& body) {
  const std::optional<Fields> reasoning = body.object("reasoning");
  json::object out;
  out["effort"] = reasoning ? member_or(*reasoning, "effort", nullptr) : nullptr;
  out["summary"] = reasoning ? member_or(*reasoning, "summary", nullptr) : nullptr;
  return out;
}

json::object echoed_text(const Fields& body) {
  json::object plain;
  plain["type"] = "text";
  const std::optional<Fields> text = body.object("text");
  json::object out;
  out["format"] = text ? member_or(*text, "format", plain) : json::value(plain);
  out["verbosity"] = "medium";
  return out;
}

json::object echo_of(const Fields& body, const ResponseCall& call) {
  const wire::Sampling& sampling = call.generate.message.sampling;
  json::object out;
  for (std::string_view name :
       {"instructions", "max_output_tokens", "max_tool_calls", "previous_response_id",
        "prompt_cache_key", "safety_identifier", "user"}) {
    out[name] = member_or(body, name, nullptr);
  }
  out["metadata"] = member_or(body, "metadata", json::object{});
  out["parallel_tool_calls"] = member_or(body, "parallel_tool_calls", true);
  out["reasoning"] = echoed_reasoning(body);
  out["service_tier"] = "default";
  out["store"] = call.store;
  out["temperature"] = sampling.temperature;
  out["text"] = echoed_text(body);
  out["tool_choice"] = member_or(body, "tool_choice", "auto");
  out["tools"] = member_or(body, "tools", json::array{});
  out["top_logprobs"] = 0;
  out["top_p"] = sampling.top_p;
  out["truncation"] = call.generate.message.truncate ? "auto" : "disabled";
  return out;
}

}  // namespace

Result<ResponseCall> parse_response(const json::object& object, const Earlier& earlier,
                                    const ModelDefaults& defaults) {
  Fields::FirstError error;
  const Fields body{object, "", error};
  ResponseCall call;
  const ModelSettings settings = defaults.of(body);
  apply_parameters(settings, call.generate.message);
  refuse_unsupported(body);
  read_prompt(body, earlier, settings, call);
  read_how(body, call);
  read_include(body);
  read_metadata(body);
  for (std::string_view name : {"user", "safety_identifier", "prompt_cache_key"}) {
    (void)body.text(name);
  }
  if (error) return Failed{std::move(*error)};
  call.echoed = echo_of(body, call);
  return call;
}

Result<ResponseCall> parse_count(const json::object& object, const Earlier& earlier,
                                 const ModelDefaults& defaults) {
  Fields::FirstError error;
  const Fields body{object, "", error};
  ResponseCall call;
  refuse_unsupported(body);
  read_prompt(body, earlier, defaults.of(body), call);
  call.generate.message.count_only = true;
  if (error) return Failed{std::move(*error)};
  return call;
}

}  // namespace hearth::api::responses
