// SPDX-License-Identifier: Apache-2.0
#include "api/openai/sampling.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>

namespace hearth::api::openai {
namespace json = boost::json;
namespace {

constexpr std::size_t kMaxStops = 64;
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

void read_seed(const Fields& body, wire::Sampling& sampling) {
  const json::value* seed = body.find("seed");
  if (seed == nullptr) return;
  if (seed->is_uint64()) {
    sampling.seed = static_cast<std::uint32_t>(seed->get_uint64());
    return;
  }
  const auto number = integer_of(*seed);
  if (!number) {
    body.fail("seed", fmt::format("an integer is expected, not {}", kind_name(*seed)));
    return;
  }
  // Everybody's word for "any".
  if (*number != -1) sampling.seed = static_cast<std::uint32_t>(*number);
}

void read_logit_bias(const Fields& body, wire::Sampling& sampling) {
  const std::optional<Fields> biases = body.object("logit_bias");
  if (!biases) return;
  for (const auto& member : biases->json()) {
    const std::string_view key = member.key();
    int token = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), token);
    if (error != std::errc{} || end != key.data() + key.size() || token < 0) {
      biases->fail(key, "the names in logit_bias are token ids");
      return;
    }
    if (const auto bias = biases->number(key, {-100, 100})) sampling.logit_bias[token] = *bias;
  }
}

template <class T, class U>
void keep(T& target, const std::optional<U>& value) {
  if (value) target = static_cast<T>(*value);
}

void read_sampling(const Fields& body, wire::Sampling& sampling) {
  read_seed(body, sampling);
  keep(sampling.temperature, body.number("temperature", {0, 5}));
  keep(sampling.top_p, body.number("top_p", {0, 1}));
  keep(sampling.top_k, body.integer("top_k", {-1, 1 << 24}));
  keep(sampling.min_p, body.number("min_p", {0, 1}));
  keep(sampling.typical_p, body.number("typical_p", {0, 1}));
  keep(sampling.repeat_penalty, body.number("repeat_penalty", {0.01, 10}));
  keep(sampling.presence_penalty, body.number("presence_penalty", {-2, 2}));
  keep(sampling.frequency_penalty, body.number("frequency_penalty", {-2, 2}));
  keep(sampling.repeat_last_n, body.integer("repeat_last_n", {-1, 1 << 20}));
  read_logit_bias(body, sampling);
}

void add_stop(const Fields& body, const json::value& value, std::string path, GenerateCall& call) {
  if (!value.is_string()) {
    body.fail_at(std::move(path), fmt::format("a string is expected, not {}", kind_name(value)));
    return;
  }
  // Every text ends with the empty string; nobody can mean it.
  if (value.get_string().empty()) return;
  call.message.stop.emplace_back(std::string_view{value.get_string()});
}

void read_stop(const Fields& body, GenerateCall& call) {
  const json::value* stop = body.find("stop");
  if (stop == nullptr) return;
  if (!stop->is_array()) {
    add_stop(body, *stop, "stop", call);
    return;
  }
  const json::array& list = stop->get_array();
  if (list.size() > kMaxStops) {
    body.fail("stop", fmt::format("at most {} stop strings are possible", kMaxStops));
    return;
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    add_stop(body, list[i], fmt::format("stop[{}]", i), call);
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

void read_streaming(const Fields& body, GenerateCall& call) {
  if (body.flag("stream").value_or(false)) call.delivery = front::Delivery::kStreamed;
  keep(call.return_progress, body.flag("return_progress"));
  const std::optional<Fields> options = body.object("stream_options");
  if (options) keep(call.include_usage, options->flag("include_usage"));
}

// A Go duration ("1h30m", "-1s") or a plain number, as keep_alive is written everywhere.
bool is_duration(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty()) return false;
  while (!text.empty()) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
    if (digits == 0 || digits > 12 || text.substr(0, digits) == ".") return false;
    text.remove_prefix(digits);
    const std::size_t letters = std::min(text.find_first_of("0123456789."), text.size());
    const std::string_view unit = text.substr(0, letters);
    const bool known = unit == "h" || unit == "m" || unit == "s" || unit == "ms" || unit == "us" ||
                       unit == "ns" || unit.empty();
    if (!known || (unit.empty() && !text.empty())) return false;
    text.remove_prefix(letters);
  }
  return true;
}

}  // namespace

void check_residency_hints(const Fields& body) {
  constexpr double kMaxSeconds = 1e10;
  (void)body.number("ttl", {-1, kMaxSeconds});
  const json::value* keep_alive = body.find("keep_alive");
  if (keep_alive == nullptr) return;
  if (!keep_alive->is_string()) {
    (void)body.number("keep_alive", {-kMaxSeconds, kMaxSeconds});
    return;
  }
  if (is_duration(keep_alive->get_string())) return;
  body.fail("keep_alive", "a number of seconds or a duration such as \"5m\" is expected");
}

void read_common(const Fields& body, GenerateCall& call) {
  call.model = body.required_text("model");
  refuse_unsupported(body);
  read_sampling(body, call.message.sampling);
  read_limits(body, call.message);
  read_stop(body, call);
  read_streaming(body, call);
  check_residency_hints(body);
}

}  // namespace hearth::api::openai
