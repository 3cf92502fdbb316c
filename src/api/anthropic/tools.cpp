// SPDX-License-Identifier: Apache-2.0
#include "api/anthropic/tools.h"

#include <algorithm>
#include <set>

#include "api/schema_check.h"

namespace hearth::api::anthropic {
namespace json = boost::json;
namespace {

// In OpenAI's shape, for the chat template.
json::object read_tool(const Fields& tool, std::set<std::string>& names) {
  const std::string type = tool.text("type").value_or("custom");
  if (type != "custom") {
    tool.fail("type", "tools of type " + type + " are not there; only your own, of type custom");
    return {};
  }
  json::object function;
  const std::string name = tool.required_text("name");
  if (!names.insert(name).second) tool.fail("name", "two tools have the name " + name);
  function["name"] = name;
  if (const auto description = tool.text("description")) function["description"] = *description;
  const std::optional<Fields> schema = tool.object("input_schema");
  if (!schema) tool.fail("input_schema", "an object is required here");
  if (schema) check_schema(*schema, SchemaUse::kParameters);
  function["parameters"] = schema ? schema->json() : json::object{};
  (void)tool.object("cache_control");
  json::object out;
  out["type"] = "function";
  out["function"] = std::move(function);
  return out;
}

void leave_one(const Fields& choice, json::array& tools) {
  const std::string wanted = choice.required_text("name");
  const auto found = std::ranges::find_if(tools, [&](const json::value& tool) {
    return tool.at("function").at("name") == json::value(wanted);
  });
  if (found == tools.end()) {
    choice.fail("name", "none of the tools has the name " + wanted);
    return;
  }
  json::array chosen{};
  chosen.push_back(*found);
  tools = std::move(chosen);
}

std::string read_choice(const Fields& choice, json::array& tools) {
  const std::string type = choice.required_text("type");
  if (type == "auto" || type == "none") return type;
  if (type != "any" && type != "tool") {
    choice.fail("type", "must be auto, any, tool or none");
  } else if (tools.empty()) {
    choice.fail("type", "a tool is required, but there are no tools");
  } else if (type == "tool" && !choice.failed()) {
    leave_one(choice, tools);
  }
  return "required";
}

}  // namespace

ParallelCalls read_tools(const Fields& body, wire::GenerateMessage& message) {
  json::array tools = read_tool_list(body, read_tool);
  std::string word = "auto";
  ParallelCalls parallel = ParallelCalls::kAllowed;
  if (const std::optional<Fields> choice = body.object("tool_choice")) {
    word = read_choice(*choice, tools);
    const bool one = choice->flag("disable_parallel_tool_use").value_or(false);
    if (one) parallel = ParallelCalls::kForbidden;
  }
  if (tools.empty() || body.failed()) return parallel;
  message.tools = json::serialize(tools);
  message.tool_choice = std::move(word);
  return parallel;
}

}  // namespace hearth::api::anthropic
