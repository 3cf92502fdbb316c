// SPDX-License-Identifier: Apache-2.0
#include "api/openai/common.h"

#include <array>
#include <limits>

#include "api/sampling.h"

namespace hearth::api::openai {
namespace json = boost::json;
namespace {

constexpr int kMaxTokens = std::numeric_limits<int>::max();

struct RefusedField {
  std::string_view name;
  std::string_view reason;
};

constexpr std::array kRefusedFields{
    RefusedField{"top_logprobs", "log probabilities are not supported yet"},
    RefusedField{"functions", "the old form of function calling is not supported; use tools"},
    RefusedField{"function_call",
                 "the old form of function calling is not supported; use tool_choice"},
    RefusedField{"suffix", "filling in the middle is not supported yet"},
    RefusedField{"audio", "audio output is not supported"},
    RefusedField{"grammar", "grammars are not supported; use response_format with a JSON schema"},
};

void refuse_unsupported(const Fields& body) {
  for (const RefusedField& refused : kRefusedFields) {
    if (body.has(refused.name)) body.fail(refused.name, std::string{refused.reason});
  }
  for (std::string_view name : {"n", "best_of"}) {
    const json::value* count = body.find(name);
    if (count == nullptr || integer_of(*count) == 1) continue;
    body.fail(name, "only 1 is supported: one reply for each request");
  }
  // A number in /v1/completions; 0 and false ask for nothing.
  const json::value* logprobs = body.find("logprobs");
  if (logprobs == nullptr || *logprobs == json::value(false)) return;
  body.fail("logprobs", "log probabilities are not supported yet");
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
  const std::optional<Fields> options = body.object("stream_options");
  if (options && options->flag("include_usage").value_or(false)) call.usage = UsageChunk::kYes;
}

}  // namespace

void read_options(const Fields& body, RequestOptions& options) {
  options.model = body.required_text("model");
  options.keep_alive = read_keep_alive(body);
  keep(options.return_progress, body.flag("return_progress"));
}

void read_common(const Fields& body, ChatCall& call) {
  wire::GenerateMessage& message = call.generate.message;
  read_options(body, call.generate.options);
  refuse_unsupported(body);
  read_sampling(body, message.sampling);
  read_limits(body, message);
  read_stops(body, "stop", message.stop);
  read_streaming(body, call);
}

}  // namespace hearth::api::openai
