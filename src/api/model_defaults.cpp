// SPDX-License-Identifier: Apache-2.0
#include "api/model_defaults.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/sampling.h"
#include "base/json.h"

namespace hearth::api {
namespace json = boost::json;
namespace {

constexpr std::array<std::string_view, 13> kApplied{"temperature",
                                                    "top_p",
                                                    "top_k",
                                                    "min_p",
                                                    "typical_p",
                                                    "repeat_penalty",
                                                    "presence_penalty",
                                                    "frequency_penalty",
                                                    "repeat_last_n",
                                                    "seed",
                                                    "num_predict",
                                                    "num_ctx",
                                                    "num_keep"};

// Each by itself, so that one that makes no sense takes no other along.
void apply_one(std::string_view name, const json::value& value, wire::GenerateMessage& message) {
  json::object one;
  one[name] = value;
  Fields::FirstError ignored;
  const Fields fields{one, "", ignored};
  if (name == "stop") {
    std::vector<std::string> stops;
    read_stops(fields, "stop", stops);
    if (!fields.failed()) message.stop = std::move(stops);
  } else if (std::ranges::find(kApplied, name) != kApplied.end()) {
    read_sampling(fields, message.sampling);
    read_lengths(fields, message);
  }
}

json::array list_in(const std::string& text) {
  if (text.empty()) return {};
  auto parsed = parse_json(text);
  return parsed && parsed->is_array() ? std::move(parsed->get_array()) : json::array{};
}

bool is_system(const json::value& message) {
  const json::object* object = message.if_object();
  const json::value* role = object == nullptr ? nullptr : object->if_contains("role");
  return role != nullptr && *role == json::value("system");
}

}  // namespace

ModelSettings ModelDefaults::of(const Fields& body) const {
  const json::value* name = body.find("model");
  if (service_ == nullptr || name == nullptr || !name->is_string()) return {};
  auto model = service_->model(std::string{std::string_view{name->get_string()}});
  return model ? std::move(model->settings) : ModelSettings{};
}

void apply_parameters(const ModelSettings& settings, wire::GenerateMessage& message) {
  if (settings.parameters.empty()) return;
  const auto parameters = parse_json(settings.parameters);
  if (!parameters || !parameters->is_object()) return;
  for (const auto& member : parameters->get_object()) {
    apply_one(member.key(), member.value(), message);
  }
}

void begin_conversation(const ModelSettings& settings, wire::GenerateMessage& message) {
  if (message.messages.empty() || (settings.system.empty() && settings.messages.empty())) return;
  json::array given = list_in(message.messages);
  json::array own = list_in(settings.messages);
  json::array out;
  auto rest = given.begin();
  if (rest != given.end() && is_system(*rest)) {
    out.push_back(std::move(*rest++));
  } else if (!settings.system.empty() && std::ranges::none_of(given, is_system)) {
    out.push_back(json::object{{"role", "system"}, {"content", settings.system}});
  }
  const bool has_system = !out.empty();
  for (json::value& message_of_own : own) {
    if (!has_system || !is_system(message_of_own)) out.push_back(std::move(message_of_own));
  }
  std::move(rest, given.end(), std::back_inserter(out));
  message.messages = json::serialize(out);
}

}  // namespace hearth::api
