// SPDX-License-Identifier: Apache-2.0
#include "api/responses/tools.h"

#include <algorithm>
#include <set>

#include "api/schema_check.h"

namespace hearth::api::responses {
namespace json = boost::json;
namespace {

constexpr std::string_view kOnlyFunctions =
    "this server runs no tools of its own; only tools of type function are possible";

// In the shape that chat templates understand.
json::object read_tool(const Fields& tool, std::set<std::string>& names) {
  json::object out;
  if (tool.required_text("type") != "function") {
    tool.fail("type", std::string{kOnlyFunctions});
    return out;
  }
  json::object function;
  const std::string name = tool.required_text("name");
  if (!names.insert(name).second) tool.fail("name", "two tools have the name " + name);
  function["name"] = name;
  if (const auto description = tool.text("description")) function["description"] = *description;
  const std::optional<Fields> parameters = tool.object("parameters");
  if (parameters) {
    check_schema(*parameters, SchemaUse::kParameters);
    function["parameters"] = parameters->json();
  }
  (void)tool.flag("strict");
  out["type"] = "function";
  out["function"] = std::move(function);
  return out;
}

const json::value* find_tool(const json::array& tools, const std::string& name) {
  const auto* found = std::ranges::find_if(tools, [&](const json::value& tool) {
    return tool.at("function").at("name") == json::value(name);
  });
  return found == tools.end() ? nullptr : found;
}

// Adds the tool that `choice` names to those that are left.
void choose(const Fields& choice, const json::array& tools, json::array& left) {
  const std::string type = choice.required_text("type");
  if (choice.failed()) return;
  if (type != "function") {
    choice.fail("type", std::string{kOnlyFunctions});
    return;
  }
  const std::string name = choice.required_text("name");
  const json::value* tool = find_tool(tools, name);
  if (tool == nullptr) {
    choice.fail("name", "none of the tools has the name " + name);
    return;
  }
  left.push_back(*tool);
}

std::string choose_among(const Fields& choice, json::array& tools) {
  const std::string mode = choice.required_text("mode");
  if (mode != "auto" && mode != "required") choice.fail("mode", "must be auto or required");
  const json::array* named = choice.list("tools");
  if (named == nullptr || named->empty()) {
    choice.fail("tools", "a list with at least one tool is required here");
    return mode;
  }
  json::array left{};
  for (std::size_t i = 0; i < named->size() && !choice.failed(); ++i) {
    const std::optional<Fields> one = choice.element("tools", *named, i);
    if (one) choose(*one, tools, left);
  }
  tools = std::move(left);
  return mode;
}

std::string read_choice_object(const Fields& choice, json::array& tools) {
  if (choice.failed()) return "auto";
  if (choice.text("type") == "allowed_tools") return choose_among(choice, tools);
  json::array left{};
  choose(choice, tools, left);
  tools = std::move(left);
  return "required";
}

std::string read_choice(const Fields& body, json::array& tools) {
  const json::value* choice = body.find("tool_choice");
  if (choice == nullptr) return "auto";
  if (choice->is_object()) return read_choice_object(*body.object("tool_choice"), tools);
  const std::string word = body.text("tool_choice").value_or("");
  if (word != "none" && word != "auto" && word != "required") {
    body.fail("tool_choice", "must be none, auto, required, or an object that names functions");
  }
  if (word == "required" && tools.empty()) {
    body.fail("tool_choice", "a tool is required, but there are no tools");
  }
  return word;
}

void read_schema(const Fields& format, wire::GenerateMessage& message) {
  (void)format.text("name");
  (void)format.flag("strict");
  const std::optional<Fields> schema = format.object("schema");
  if (!schema) {
    format.fail("schema", "an object is required here");
    return;
  }
  check_schema(*schema, SchemaUse::kReply);
  message.response_schema = json::serialize(schema->json());
}

}  // namespace

ParallelCalls read_tools(const Fields& body, wire::GenerateMessage& message) {
  json::array tools = read_tool_list(body, read_tool);
  std::string choice = read_choice(body, tools);
  const bool parallel = body.flag("parallel_tool_calls").value_or(true);
  if (!tools.empty() && !body.failed()) {
    message.tools = json::serialize(tools);
    message.tool_choice = std::move(choice);
  }
  return parallel ? ParallelCalls::kAllowed : ParallelCalls::kForbidden;
}

void read_text_format(const Fields& body, wire::GenerateMessage& message) {
  const std::optional<Fields> text = body.object("text");
  if (!text) return;
  if (text->text("verbosity").value_or("medium") != "medium") {
    text->fail("verbosity", "models here are not told how long their answers shall be");
  }
  const std::optional<Fields> format = text->object("format");
  if (!format) return;
  const std::string type = format->required_text("type");
  if (type == "json_object") {
    message.response_schema = "{}";
  } else if (type == "json_schema") {
    read_schema(*format, message);
  } else if (type != "text") {
    format->fail("type", "must be text, json_object or json_schema");
  }
}

}  // namespace hearth::api::responses
