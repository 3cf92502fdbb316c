// SPDX-License-Identifier: Apache-2.0
#include "api/openai/tools.h"

#include <fmt/format.h>

#include <set>

#include "api/schema_check.h"

namespace hearth::api::openai {
namespace json = boost::json;
namespace {

std::string_view name_of(const json::value& tool) {
  return tool.at("function").at("name").get_string();
}

void check_tool(const Fields& tool, std::set<std::string>& names) {
  const std::string type = tool.required_text("type");
  if (type != "function") tool.fail("type", "only tools of type function are supported");
  const std::optional<Fields> function = tool.object("function");
  if (!function) {
    tool.fail("function", "an object is required here");
    return;
  }
  const std::string name = function->required_text("name");
  (void)function->text("description");
  const std::optional<Fields> parameters = function->object("parameters");
  if (parameters) check_schema(*parameters, SchemaUse::kParameters);
  if (!names.insert(name).second) {
    function->fail("name", "two tools have the name " + name);
  }
}

json::array checked_tools(const Fields& body) {
  const json::array* tools = body.list("tools");
  if (tools == nullptr) return {};
  std::set<std::string> names;
  for (std::size_t i = 0; i < tools->size() && !body.failed(); ++i) {
    const std::optional<Fields> tool = body.element("tools", *tools, i);
    if (tool) check_tool(*tool, names);
  }
  return body.failed() ? json::array{} : *tools;
}

void choose_one(const Fields& choice, json::array& tools) {
  if (choice.required_text("type") != "function") {
    choice.fail("type", "only a choice of type function is supported");
    return;
  }
  const std::optional<Fields> function = choice.object("function");
  if (!function) {
    choice.fail("function", "an object is required here");
    return;
  }
  const std::string wanted = function->required_text("name");
  for (const json::value& tool : tools) {
    if (name_of(tool) != wanted) continue;
    json::array chosen{};
    chosen.push_back(tool);
    tools = std::move(chosen);
    return;
  }
  function->fail("name", "none of the tools has the name " + wanted);
}

std::string read_choice(const Fields& body, json::array& tools) {
  const json::value* choice = body.find("tool_choice");
  if (choice == nullptr) return "auto";
  if (choice->is_object()) {
    if (!body.failed()) choose_one(*body.object("tool_choice"), tools);
    return "required";
  }
  const std::string word = body.text("tool_choice").value_or("");
  if (word != "none" && word != "auto" && word != "required") {
    body.fail("tool_choice", "must be none, auto, required, or an object that names a function");
  }
  if (word == "required" && tools.empty()) {
    body.fail("tool_choice", "a tool is required, but there are no tools");
  }
  return word;
}

std::string schema_text(const Fields& holder, std::string_view name) {
  const std::optional<Fields> schema = holder.object(name);
  if (schema) check_schema(*schema, SchemaUse::kReply);
  return schema ? json::serialize(schema->json()) : std::string{};
}

std::string named_schema(const Fields& format) {
  const std::optional<Fields> named = format.object("json_schema");
  if (!named) {
    format.fail("json_schema", "an object is required here");
    return {};
  }
  if (!named->has("schema")) named->fail("schema", "an object is required here");
  return schema_text(*named, "schema");
}

}  // namespace

ParallelCalls read_tools(const Fields& body, wire::GenerateMessage& message) {
  json::array tools = checked_tools(body);
  std::string choice = read_choice(body, tools);
  const bool parallel = body.flag("parallel_tool_calls").value_or(true);
  if (!tools.empty() && !body.failed()) {
    message.tools = json::serialize(tools);
    message.tool_choice = std::move(choice);
  }
  return parallel ? ParallelCalls::kAllowed : ParallelCalls::kForbidden;
}

void read_response_format(const Fields& body, wire::GenerateMessage& message) {
  message.response_schema = schema_text(body, "json_schema");
  const std::optional<Fields> format = body.object("response_format");
  if (!format) return;
  const std::string type = format->required_text("type");
  if (type == "json_object") {
    message.response_schema = format->has("schema") ? schema_text(*format, "schema") : "{}";
  } else if (type == "json_schema") {
    message.response_schema = named_schema(*format);
  } else if (type != "text") {
    format->fail("type", "must be text, json_object or json_schema");
  }
}

}  // namespace hearth::api::openai
