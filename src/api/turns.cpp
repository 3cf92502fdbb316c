// SPDX-License-Identifier: Apache-2.0
#include "api/turns.h"

#include <utility>

namespace hearth::api {
namespace json = boost::json;
namespace {

void append_line(json::value& text, std::string_view more) {
  json::string& string = text.get_string();
  if (!string.empty() && !more.empty()) string += '\n';
  string += more;
}

}  // namespace

void append_line(std::string& text, std::string_view more) {
  if (!text.empty() && !more.empty()) text += '\n';
  text += more;
}

void Turns::add_text(std::string_view role, std::string_view text) {
  append_line(turn_of(role)["content"], text);
}

void Turns::add_reasoning(std::string_view text) {
  json::value& reasoning = turn_of("assistant")["reasoning_content"];
  if (reasoning.is_null()) reasoning.emplace_string();
  append_line(reasoning, text);
}

void Turns::add_call(const std::string& id, const std::string& name, std::string arguments) {
  names_[id] = name;
  json::value& calls = turn_of("assistant")["tool_calls"];
  if (calls.is_null()) calls.emplace_array();
  json::object function;
  function["name"] = name;
  function["arguments"] = std::move(arguments);
  json::object call;
  call["id"] = id;
  call["type"] = "function";
  call["function"] = std::move(function);
  calls.get_array().push_back(std::move(call));
}

void Turns::add_result(const std::string& id, std::string_view text) {
  json::object result;
  result["role"] = "tool";
  result["tool_call_id"] = id;
  if (const auto name = names_.find(id); name != names_.end()) result["name"] = name->second;
  result["content"] = text;
  turns_.push_back(std::move(result));
}

json::object& Turns::turn_of(std::string_view role) {
  if (turns_.empty() || turns_.back().at("role") != json::value(role)) {
    json::object turn;
    turn["role"] = role;
    turn["content"] = "";
    turns_.push_back(std::move(turn));
  }
  return turns_.back().get_object();
}

std::string Turns::text() {
  for (json::value& turn : turns_) {
    json::object& object = turn.get_object();
    const bool only_calls = object.contains("tool_calls") && object["content"] == json::value("");
    if (only_calls) object["content"] = nullptr;
  }
  return json::serialize(turns_);
}

}  // namespace hearth::api
