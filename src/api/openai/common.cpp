// SPDX-License-Identifier: Apache-2.0
#include "api/openai/common.h"

#include <algorithm>
#include <array>
#include <limits>

#include "api/grammar_check.h"
#include "api/logprob_json.h"
#include "api/modules.h"
#include "api/sampling.h"

namespace hearth::api::openai {
namespace json = boost::json;
namespace {

constexpr int kMaxTokens = std::numeric_limits<int>::max();

struct RefusedField {
  std::string_view name;
  std::string_view reason;
  // What asks for nothing, as JSON: clients that send all members send these. null always does.
  std::array<std::string_view, 2> nothing = {};
};

constexpr std::array kRefusedFields{
    RefusedField{
        "functions", "the old form of function calling is not supported; use tools", {"[]"}},
    RefusedField{"function_call",
                 "the old form of function calling is not supported; use tool_choice",
                 {"\"none\""}},
    RefusedField{"audio", "audio output is not supported"},
};

bool asks_for_nothing(const json::value& value, const RefusedField& refused) {
  return std::ranges::find(refused.nothing, json::serialize(value)) != refused.nothing.end();
}

void refuse_unsupported(const Fields& body) {
  for (const RefusedField& refused : kRefusedFields) {
    const json::value* value = body.find(refused.name);
    if (value == nullptr || asks_for_nothing(*value, refused)) continue;
    body.fail(refused.name, std::string{refused.reason});
  }
}

void read_limits(const Fields& body, wire::GenerateMessage& message) {
  // The newest name wins where a client sends several.
  for (std::string_view name : {"n_predict", "max_tokens", "max_completion_tokens"}) {
    keep(message.max_tokens, body.integer(name, {-1, kMaxTokens}));
  }
  keep(message.ignore_eos, body.flag("ignore_eos"));
  keep(message.cache_prompt, body.flag("cache_prompt"));
}

// llama-server's word for the log probabilities of so many tokens.
void read_n_probs(const Fields& body, wire::GenerateMessage& message) {
  const auto count = body.integer("n_probs", {0, kMostAlternatives});
  if (count.value_or(0) > 0) message.logprobs = static_cast<int>(*count);
}

void read_streaming(const Fields& body, ChatCall& call) {
  if (body.flag("stream").value_or(false)) call.generate.delivery = front::Delivery::kStreamed;
  call.generate.options.return_progress = read_progress(body, call.generate.delivery);
  const std::optional<Fields> options = body.object("stream_options");
  if (options && options->flag("include_usage").value_or(false)) call.usage = UsageChunk::kYes;
}

bool has_tools(const wire::GenerateMessage& message) {
  return !message.tools.empty() && message.tool_choice != "none";
}

}  // namespace

void read_grammar(const Fields& body, wire::GenerateMessage& message) {
  message.grammar = body.text("grammar").value_or("");
  if (message.grammar.empty()) return;
  if (!message.response_schema.empty() || has_tools(message)) {
    body.fail("grammar", "stands for the whole reply; leave it out, or tools and response_format");
    return;
  }
  if (auto checked = check_grammar(message.grammar); !checked) {
    body.fail("grammar", checked.error().message());
  }
}

void read_min_tokens(const Fields& body, wire::GenerateMessage& message) {
  const auto least = body.integer("min_tokens", {0, kMaxTokens});
  if (least.value_or(0) == 0) return;
  message.sampling.min_tokens = static_cast<int>(*least);
  if (message.max_tokens >= 0 && *least > message.max_tokens) {
    body.fail("min_tokens", "is more than the reply may have at most");
  }
  // Where a form is complete, only the end can follow.
  if (!message.grammar.empty() || !message.response_schema.empty() || has_tools(message)) {
    body.fail("min_tokens",
              "does not go with grammar, response_format or tools, which say "
              "themselves when a reply is complete");
  }
}

void read_options(const Fields& body, RequestOptions& options) {
  options.model = body.required_text("model");
  options.keep_alive = read_keep_alive(body);
}

void read_common(const Fields& body, ChatCall& call) {
  wire::GenerateMessage& message = call.generate.message;
  read_options(body, call.generate.options);
  refuse_unsupported(body);
  read_sampling(body, message.sampling);
  read_limits(body, message);
  read_stops(body, "stop", message.stop);
  read_streaming(body, call);
  read_n_probs(body, message);
  const auto count = body.integer("n", {1, kMostChoices});
  call.choices.asked = call.choices.written = static_cast<int>(count.value_or(1));
  read_modules(body, call.generate.options);
}

}  // namespace hearth::api::openai
