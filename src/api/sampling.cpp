// SPDX-License-Identifier: Apache-2.0
#include "api/sampling.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace hearth::api {
namespace json = boost::json;
namespace {

constexpr std::size_t kMaxStops = 64;
constexpr double kLargestBias = 100;

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
  if (*number == -1) {
    sampling.seed.reset();
  } else {
    sampling.seed = static_cast<std::uint32_t>(*number);
  }
}

std::optional<int> token_id(std::string_view text) {
  int token = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), token);
  if (error != std::errc{} || end != text.data() + text.size() || token < 0) return std::nullopt;
  return token;
}

// A number, or false for never.
std::optional<double> bias_of(const Fields& fields, const json::value& value, std::string path) {
  if (value == json::value(false)) return wire::Sampling::kBan;
  const bool fits = value.is_number() && std::abs(value.to_number<double>()) <= kLargestBias;
  if (fits) return value.to_number<double>();
  fields.fail_at(std::move(path), fmt::format("a number from {} to {} or false is expected",
                                              -kLargestBias, kLargestBias));
  return std::nullopt;
}

// [[token id or text, bias], ...]
void read_bias_list(const Fields& body, const json::array& list, wire::Sampling& sampling) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string path = fmt::format("{}[{}]", body.path_of("logit_bias"), i);
    const json::array* pair = list[i].if_array();
    if (pair == nullptr || pair->size() != 2) {
      return body.fail_at(path, "a list of a token id or a text, and a bias, is expected");
    }
    const auto bias = bias_of(body, (*pair)[1], path + "[1]");
    if (!bias) return;
    const json::value& what = (*pair)[0];
    const auto id = integer_of(what);
    if (id && *id >= 0 && *id <= std::numeric_limits<int>::max()) {
      sampling.logit_bias[static_cast<int>(*id)] = *bias;
    } else if (what.is_string() && !what.get_string().empty()) {
      sampling.text_bias.push_back({std::string{std::string_view{what.get_string()}}, *bias});
    } else {
      return body.fail_at(path + "[0]", "a token id or a text is expected");
    }
  }
}

// By token ids; a name that is none is a text, all of whose tokens get the bias.
void read_logit_bias(const Fields& body, wire::Sampling& sampling) {
  const json::value* value = body.find("logit_bias");
  if (value == nullptr) return;
  if (value->is_array()) return read_bias_list(body, value->get_array(), sampling);
  const std::optional<Fields> biases = body.object("logit_bias");
  if (!biases) return;
  for (const auto& member : biases->json()) {
    const std::string key{std::string_view{member.key()}};
    if (key.empty()) return biases->fail(key, "a token id or a text is expected as a name");
    const auto bias = bias_of(*biases, member.value(), biases->path_of(key));
    if (!bias) return;
    if (const auto id = token_id(key)) {
      sampling.logit_bias[*id] = *bias;
    } else {
      sampling.text_bias.push_back({key, *bias});
    }
  }
}

void add_stop(const Fields& fields, const json::value& value, std::string path,
              std::vector<std::string>& stops) {
  if (!value.is_string()) {
    fields.fail_at(std::move(path), fmt::format("a string is expected, not {}", kind_name(value)));
    return;
  }
  // Every text ends with the empty string; nobody can mean it.
  if (value.get_string().empty()) return;
  stops.emplace_back(std::string_view{value.get_string()});
}

}  // namespace

void read_sampling(const Fields& body, wire::Sampling& sampling) {
  read_seed(body, sampling);
  keep(sampling.temperature, body.number("temperature", {0, 5}));
  keep(sampling.top_p, body.number("top_p", {0, 1}));
  keep(sampling.top_k, body.integer("top_k", {-1, 1 << 24}));
  keep(sampling.min_p, body.number("min_p", {0, 1}));
  keep(sampling.typical_p, body.number("typical_p", {0, 1}));
  for (std::string_view name : {"repetition_penalty", "repeat_penalty"}) {
    keep(sampling.repeat_penalty, body.number(name, {0.01, 10}));
  }
  keep(sampling.presence_penalty, body.number("presence_penalty", {-2, 2}));
  keep(sampling.frequency_penalty, body.number("frequency_penalty", {-2, 2}));
  keep(sampling.repeat_last_n, body.integer("repeat_last_n", {-1, 1 << 20}));
  read_logit_bias(body, sampling);
}

void read_lengths(const Fields& fields, wire::GenerateMessage& message) {
  constexpr int kMost = std::numeric_limits<int>::max();
  if (const auto most = fields.integer("num_predict", {-2, kMost})) {
    // 0 is what clients of Ollama send who do not care: it leaves such members out.
    message.max_tokens = *most > 0 ? static_cast<int>(*most) : -1;
  }
  keep(message.context_limit, fields.integer("num_ctx", {0, kMost}));
  if (const auto kept = fields.integer("num_keep", {-1, kMost})) {
    message.keep = *kept < 0 ? kMost : static_cast<int>(*kept);
  }
}

void read_stops(const Fields& fields, std::string_view name, std::vector<std::string>& stops) {
  const json::value* stop = fields.find(name);
  if (stop == nullptr) return;
  stops.clear();
  const std::string path = fields.path_of(name);
  if (!stop->is_array()) {
    add_stop(fields, *stop, path, stops);
    return;
  }
  const json::array& list = stop->get_array();
  if (list.size() > kMaxStops) {
    fields.fail(name, fmt::format("at most {} stop strings are possible", kMaxStops));
    return;
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    add_stop(fields, list[i], fmt::format("{}[{}]", path, i), stops);
  }
}

std::optional<front::KeepAlive> read_keep_alive(const Fields& body) {
  const std::string_view name = body.has("keep_alive") ? "keep_alive" : "ttl";
  const json::value* value = body.find(name);
  if (value == nullptr) return std::nullopt;
  if (name == "keep_alive" && body.has("ttl")) {
    body.fail("ttl", "says the same as keep_alive; send one of them");
    return std::nullopt;
  }
  const bool is_text = value->is_string() && name == "keep_alive";
  if (!is_text && !value->is_number()) {
    body.fail(name,
              fmt::format("a number of seconds{} is expected, not {}",
                          name == "ttl" ? "" : " or a duration such as \"5m\"", kind_name(*value)));
    return std::nullopt;
  }
  const auto read = is_text ? front::KeepAlive::parse(std::string_view{value->get_string()})
                            : front::KeepAlive::of_seconds(value->to_number<double>());
  if (read) return *read;
  body.fail(name, read.error().message());
  return std::nullopt;
}

bool read_progress(const Fields& body, front::Delivery delivery) {
  const bool wanted = body.flag("return_progress").value_or(false);
  if (wanted && delivery == front::Delivery::kWhole) {
    body.fail("return_progress", "progress is only told on streams");
  }
  return wanted;
}

}  // namespace hearth::api
