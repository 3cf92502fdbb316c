// SPDX-License-Identifier: Apache-2.0
#include "wire/sampling.h"

#include <fmt/format.h>

#include <iterator>
#include <limits>

#include "wire/json_writer.h"
#include "wire/object_reader.h"

namespace hearth::wire {
namespace json = boost::json;
namespace {

// [[token,bias],...]: JSON objects have no integer keys.
std::string encode(const std::map<int, double>& logit_bias) {
  std::string out = "[";
  for (const auto& [token, bias] : logit_bias) {
    if (out.size() > 1) out += ',';
    fmt::format_to(std::back_inserter(out), "[{},", token);
    append_json_number(out, bias);
    out += ']';
  }
  return out += ']';
}

std::string encode(const std::vector<TextBias>& biases) {
  std::string out = "[";
  for (const TextBias& bias : biases) {
    if (out.size() > 1) out += ',';
    JsonWriter one;
    out += one.text("text", bias.text).number("bias", bias.bias).finish();
  }
  return out += ']';
}

std::map<int, double> read_logit_bias(ObjectReader& in) {
  std::map<int, double> biases;
  in.each("logit_bias", [&](const json::value& item, const std::string& path) {
    const json::array* pair = item.if_array();
    if (pair == nullptr || pair->size() != 2) return in.wrong(path, "[token, bias]");
    const std::optional<std::int64_t> token = whole_number((*pair)[0]);
    const std::optional<double> bias = finite_number((*pair)[1]);
    if (!token || *token < kCount.low || *token > kCount.high || !bias) {
      return in.wrong(path, "[token, bias]");
    }
    biases[static_cast<int>(*token)] = *bias;
  });
  return biases;
}

}  // namespace

std::string encode(const Sampling& sampling) {
  JsonWriter out;
  if (sampling.seed) out.number("seed", std::uint64_t{*sampling.seed});
  out.number("temperature", sampling.temperature)
      .number("top_p", sampling.top_p)
      .number("top_k", sampling.top_k)
      .number("min_p", sampling.min_p)
      .number("typical_p", sampling.typical_p)
      .number("repeat_penalty", sampling.repeat_penalty)
      .number("presence_penalty", sampling.presence_penalty)
      .number("frequency_penalty", sampling.frequency_penalty)
      .number("repeat_last_n", sampling.repeat_last_n);
  if (!sampling.logit_bias.empty()) out.raw("logit_bias", encode(sampling.logit_bias));
  if (!sampling.text_bias.empty()) out.raw("text_bias", encode(sampling.text_bias));
  if (sampling.min_tokens > 0) out.number("min_tokens", sampling.min_tokens);
  return out.finish();
}

Sampling read_sampling(ObjectReader& in) {
  Sampling s;
  constexpr std::int64_t kLargestSeed = std::numeric_limits<std::uint32_t>::max();
  if (const auto seed = in.integer64("seed", {0, kLargestSeed})) {
    s.seed = static_cast<std::uint32_t>(*seed);
  }
  s.temperature = in.number("temperature", kAnyNumber).value_or(s.temperature);
  s.top_p = in.number("top_p", kAnyNumber).value_or(s.top_p);
  s.top_k = in.integer("top_k", kAnyInt).value_or(s.top_k);
  s.min_p = in.number("min_p", kAnyNumber).value_or(s.min_p);
  s.typical_p = in.number("typical_p", kAnyNumber).value_or(s.typical_p);
  s.repeat_penalty = in.number("repeat_penalty", kAnyNumber).value_or(s.repeat_penalty);
  s.presence_penalty = in.number("presence_penalty", kAnyNumber).value_or(s.presence_penalty);
  s.frequency_penalty = in.number("frequency_penalty", kAnyNumber).value_or(s.frequency_penalty);
  s.repeat_last_n = in.integer("repeat_last_n", kAnyInt).value_or(s.repeat_last_n);
  s.logit_bias = read_logit_bias(in);
  in.each_object("text_bias", [&](ObjectReader& inner) {
    TextBias bias{inner.text("text"), inner.number("bias", kAnyNumber).value_or(0.0)};
    s.text_bias.push_back(std::move(bias));
  });
  s.min_tokens = in.integer("min_tokens", kCount).value_or(s.min_tokens);
  return s;
}

}  // namespace hearth::wire
