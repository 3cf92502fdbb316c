// SPDX-License-Identifier: Apache-2.0
#include "api/ollama/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "api/schema_check.h"
#include "api/tool_calls.h"

namespace hearth::api::ollama {
namespace json = boost::json;
namespace {

std::string read_role(const Fields& message) {
  std::string role = message.required_text("role");
  std::ranges::transform(role, role.begin(), [](unsigned char c) { return std::tolower(c); });
  if (message.failed() || role == "system" || role == "user" || role == "assistant" ||
      role == "tool") {
    return role;
  }
  message.fail("role", "must be system, user, assistant or tool");
  return role;
}

std::string read_arguments(const Fields& function) {
  const json::value* arguments = function.find("arguments");
  if (arguments == nullptr) return "{}";
  if (arguments->is_object()) return json::serialize(*arguments);
  function.fail("arguments", fmt::format("an object is expected, not {}", kind_name(*arguments)));
  return {};
}

json::object read_call(const Fields& call) {
  json::object out;
  const std::optional<Fields> function = call.object("function");
  if (!function) {
    call.fail("function", "an object is required here");
    return out;
  }
  if (const auto id = call.text("id")) out["id"] = *id;
  json::object named;
  named["name"] = function->required_text("name");
  named["arguments"] = read_arguments(*function);
  out["type"] = "function";
  out["function"] = std::move(named);
  return out;
}

void copy_text(const Fields& message, std::string_view from, std::string_view to,
               json::object& out) {
  const auto text = message.text(from);
  if (text && !text->empty()) out[to] = *text;
}

json::object read_message(const Fields& message) {
  json::object out;
  const std::string role = read_role(message);
  out["role"] = role;
  out["content"] = message.text("content").value_or("");
  json::array calls = read_tool_calls(message, role, read_call);
  if (!calls.empty()) out["tool_calls"] = std::move(calls);
  copy_text(message, "thinking", "reasoning_content", out);
  copy_text(message, "tool_name", "name", out);
  copy_text(message, "tool_call_id", "tool_call_id", out);
  refuse_images(message);
  return out;
}

json::object message_of(std::string_view role, const std::string& content) {
  json::object out;
  out["role"] = role;
  out["content"] = content;
  return out;
}

json::object checked_tool(const Fields& tool) {
  if (tool.text("type").value_or("function") != "function") {
    tool.fail("type", "only tools of type function are supported");
  }
  const std::optional<Fields> function = tool.object("function");
  if (!function) {
    tool.fail("function", "an object is required here");
    return {};
  }
  (void)function->required_text("name");
  (void)function->text("description");
  const std::optional<Fields> parameters = function->object("parameters");
  if (parameters) check_schema(*parameters, SchemaUse::kParameters);
  json::object out = tool.json();
  out["type"] = "function";
  return out;
}

}  // namespace

std::string read_messages(const Fields& body) {
  const json::array* messages = body.list("messages");
  if (messages == nullptr || messages->empty()) return {};
  json::array out;
  for (std::size_t i = 0; i < messages->size() && !body.failed(); ++i) {
    const std::optional<Fields> message = body.element("messages", *messages, i);
    if (message) out.push_back(read_message(*message));
  }
  return body.failed() ? std::string{} : json::serialize(out);
}

std::string messages_of(const std::string& system, const std::string& prompt) {
  json::array out;
  if (!system.empty()) out.push_back(message_of("system", system));
  out.push_back(message_of("user", prompt));
  return json::serialize(out);
}

void read_tools(const Fields& body, wire::GenerateMessage& message) {
  const json::array* tools = body.list("tools");
  if (tools == nullptr || tools->empty()) return;
  json::array out;
  for (std::size_t i = 0; i < tools->size() && !body.failed(); ++i) {
    const std::optional<Fields> tool = body.element("tools", *tools, i);
    if (tool) out.push_back(checked_tool(*tool));
  }
  message.tools = json::serialize(out);
  message.tool_choice = "auto";
}

void refuse_images(const Fields& fields) {
  const json::array* images = fields.list("images");
  if (images == nullptr || images->empty()) return;
  fields.fail("images", "this model reads no images; send text only");
}

}  // namespace hearth::api::ollama
