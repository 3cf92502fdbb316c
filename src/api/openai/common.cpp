// SPDX-License-Identifier: Apache-2.0
#include "api/openai/common.h"

#include <algorithm>
#include <array>
#include <limits>

#include "api/modules.h"
#include "api/sampling.h"

namespace hearth::api::openai {
namespace json = boost::json;
namespace {

constexpr int kMaxTokens = std::numeric_limits<int>::max();

constexpr std::string_view kNoLogprobs = "log probabilities are not supported yet";

struct RefusedField {
  std::string_view name;
  std::string_view reason;
  // What asks for nothing, as JSON: clients that send all members send these. null always does.
  std::array<std::string_view, 2> nothing = {};
};

constexpr std::array kRefusedFields{
    // A boolean in chats, a number in /v1/completions.
    RefusedField{"logprobs", kNoLogprobs, {"false", "0"}},
    RefusedField{"top_logprobs", kNoLogprobs, {"0"}},
    RefusedField{
        "functions", "the old form of function calling is not supported; use tools", {"[]"}},
    RefusedField{"function_call",
                 "the old form of function calling is not supported; use tool_choice",
                 {"\"none\""}},
    RefusedField{"suffix", "filling in the middle is not supported yet", {"\"\""}},
    RefusedField{"audio", "audio output is not supported"},
    RefusedField{
        "grammar", "grammars are not supported; use response_format with a JSON schema", {"\"\""}},
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
  for (std::string_view name : {"n", "best_of"}) {
    const json::value* count = body.find(name);
    if (count == nullptr || integer_of(*count) == 1) continue;
    body.fail(name, "only 1 is supported: one reply for each request");
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

void read_streaming(const Fields& body, ChatCall& call) {
  if (body.flag("stream").value_or(false)) call.generate.delivery = front::Delivery::kStreamed;
  call.generate.options.return_progress = read_progress(body, call.generate.delivery);
  const std::optional<Fields> options = body.object("stream_options");
  if (options && options->flag("include_usage").value_or(false)) call.usage = UsageChunk::kYes;
}

}  // namespace

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
  read_modules(body, call.generate.options);
}

}  // namespace hearth::api::openai
