// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/source/model_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/nearest.h"

namespace hearth {
namespace {

namespace json = boost::json;

enum class Kind { kInteger, kNumber, kBoolean, kList };
enum class Worth { kCounts, kIgnored };

struct Parameter {
  std::string_view name;
  Kind kind;
  Worth worth = Worth::kCounts;
};

constexpr auto kIgnored = Worth::kIgnored;

constexpr std::array kParameters{
    Parameter{"num_predict", Kind::kInteger},
    Parameter{"num_ctx", Kind::kInteger},
    Parameter{"num_keep", Kind::kInteger},
    Parameter{"stop", Kind::kList},
    Parameter{"seed", Kind::kInteger},
    Parameter{"temperature", Kind::kNumber},
    Parameter{"top_k", Kind::kInteger},
    Parameter{"top_p", Kind::kNumber},
    Parameter{"min_p", Kind::kNumber},
    Parameter{"typical_p", Kind::kNumber},
    Parameter{"repeat_last_n", Kind::kInteger},
    Parameter{"repeat_penalty", Kind::kNumber},
    Parameter{"presence_penalty", Kind::kNumber},
    Parameter{"frequency_penalty", Kind::kNumber},
    // Samplers that are not there, and what is the server's own matter.
    Parameter{"mirostat", Kind::kInteger, kIgnored},
    Parameter{"mirostat_tau", Kind::kNumber, kIgnored},
    Parameter{"mirostat_eta", Kind::kNumber, kIgnored},
    Parameter{"tfs_z", Kind::kNumber, kIgnored},
    Parameter{"penalize_newline", Kind::kBoolean, kIgnored},
    Parameter{"num_gpu", Kind::kInteger, kIgnored},
    Parameter{"main_gpu", Kind::kInteger, kIgnored},
    Parameter{"num_thread", Kind::kInteger, kIgnored},
    Parameter{"num_batch", Kind::kInteger, kIgnored},
    Parameter{"use_mmap", Kind::kBoolean, kIgnored},
    Parameter{"use_mlock", Kind::kBoolean, kIgnored},
    Parameter{"numa", Kind::kBoolean, kIgnored},
    Parameter{"low_vram", Kind::kBoolean, kIgnored},
    Parameter{"f16_kv", Kind::kBoolean, kIgnored},
    Parameter{"logits_all", Kind::kBoolean, kIgnored},
    Parameter{"vocab_only", Kind::kBoolean, kIgnored},
    Parameter{"embedding_only", Kind::kBoolean, kIgnored},
    Parameter{"draft_num_predict", Kind::kInteger, kIgnored},
};

constexpr auto kNames = [] {
  std::array<std::string_view, kParameters.size()> names;
  std::ranges::transform(kParameters, names.begin(), &Parameter::name);
  return names;
}();

const Parameter* find(std::string_view name) {
  const auto* found = std::ranges::find(kParameters, name, &Parameter::name);
  return found == kParameters.end() ? nullptr : found;
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> real_of(std::string_view text) {
  const std::optional<double> value = number_of<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<bool> boolean_of(std::string_view text) {
  constexpr std::array<std::string_view, 6> kYes{"true", "True", "TRUE", "t", "T", "1"};
  constexpr std::array<std::string_view, 6> kNo{"false", "False", "FALSE", "f", "F", "0"};
  if (std::ranges::find(kYes, text) != kYes.end()) return true;
  if (std::ranges::find(kNo, text) != kNo.end()) return false;
  return std::nullopt;
}

// Of a parameter that nobody knows: as it looks.
json::value guess(std::string_view text) {
  if (const auto value = number_of<std::int64_t>(text)) return *value;
  if (const auto value = real_of(text)) return *value;
  if (text == "true" || text == "false") return text == "true";
  return json::value(text);
}

Result<json::value> value_of(const Parameter& parameter, std::string_view text) {
  std::string_view wanted;
  switch (parameter.kind) {
    case Kind::kInteger:
      if (const auto value = number_of<std::int64_t>(text)) return json::value(*value);
      wanted = "a whole number";
      break;
    case Kind::kNumber:
      if (const auto value = real_of(text)) return json::value(*value);
      wanted = "a number";
      break;
    case Kind::kBoolean:
      if (const auto value = boolean_of(text)) return json::value(*value);
      wanted = "true or false";
      break;
    case Kind::kList:
      return json::value(text);
  }
  return fail(ErrorCode::kInvalid, fmt::format("{} must be {}", parameter.name, wanted));
}

}  // namespace

bool is_model_parameter(std::string_view name) {
  const Parameter* parameter = find(name);
  return parameter != nullptr && parameter->worth == Worth::kCounts;
}

std::string nearest_model_parameter(std::string_view name) {
  return find(name) != nullptr ? "" : did_you_mean(name, kNames);
}

Result<> add_model_parameter(json::object& parameters, std::string_view name,
                             std::string_view text) {
  const Parameter* parameter = find(name);
  if (parameter == nullptr) {
    parameters[name] = guess(text);
    return {};
  }
  Result<json::value> value = value_of(*parameter, text);
  if (!value) return Failed{std::move(value).error()};
  if (parameter->kind != Kind::kList) {
    parameters[name] = std::move(*value);
    return {};
  }
  json::value& list = parameters[name];
  if (!list.is_array()) list = json::array{};
  list.get_array().push_back(std::move(*value));
  return {};
}

}  // namespace hearth
