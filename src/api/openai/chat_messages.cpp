// SPDX-License-Identifier: Apache-2.0
#include "api/openai/chat_messages.h"

#include <fmt/format.h>

#include "api/tool_calls.h"

namespace hearth::api::openai {
namespace json = boost::json;
namespace {

bool is_media(std::string_view type) {
  return type == "image_url" || type == "input_image" || type == "image" || type == "input_audio" ||
         type == "audio_url" || type == "video_url" || type == "file";
}

std::string read_part(const Fields& part) {
  const std::string type = part.required_text("type");
  if (part.failed()) return {};
  if (is_media(type)) {
    part.fail("type", "this server takes text only: parts of type " + type + " are not supported");
    return {};
  }
  if (type != "text") {
    part.fail("type", "this type of content is not known; text is");
    return {};
  }
  if (!part.has("text")) part.fail("text", "a string is required here");
  return part.text("text").value_or("");
}

std::string join_parts(const Fields& message, const json::array& parts) {
  if (parts.empty()) message.fail("content", "the list is empty");
  std::string joined;
  for (std::size_t i = 0; i < parts.size() && !message.failed(); ++i) {
    const std::optional<Fields> part = message.element("content", parts, i);
    if (!part) return {};
    const std::string text = read_part(*part);
    if (!joined.empty()) joined += '\n';
    joined += text;
  }
  return joined;
}

json::value read_content(const Fields& message, std::string_view role, const json::array& calls) {
  const json::value* content = message.find("content");
  if (content == nullptr) {
    if (role == "assistant" && !calls.empty()) return nullptr;
    message.fail("content", "a string or a list of text parts is required here");
    return nullptr;
  }
  if (content->is_string()) return *content;
  if (content->is_array()) return json::string{join_parts(message, content->get_array())};
  message.fail("content", fmt::format("a string or a list of text parts is expected, not {}",
                                      kind_name(*content)));
  return nullptr;
}

json::value read_arguments(const Fields& function) {
  const json::value* arguments = function.find("arguments");
  if (arguments == nullptr) return json::string{"{}"};
  if (arguments->is_string()) return *arguments;
  // Some clients send the object itself.
  if (arguments->is_object()) return json::string{json::serialize(*arguments)};
  function.fail("arguments", fmt::format("a string is expected, not {}", kind_name(*arguments)));
  return nullptr;
}

json::object read_call(const Fields& call) {
  json::object out;
  if (const auto id = call.text("id")) out["id"] = *id;
  const std::string type = call.text("type").value_or("function");
  if (type != "function") call.fail("type", "only calls of functions are supported");
  out["type"] = "function";
  const std::optional<Fields> function = call.object("function");
  if (!function) {
    call.fail("function", "an object is required here");
    return out;
  }
  json::object named;
  named["name"] = function->required_text("name");
  named["arguments"] = read_arguments(*function);
  out["function"] = std::move(named);
  return out;
}

std::string read_role(const Fields& message) {
  std::string role = message.required_text("role");
  if (message.failed() || role == "system" || role == "user" || role == "assistant" ||
      role == "tool") {
    return role;
  }
  if (role == "developer") return "system";
  message.fail("role", "must be one of system, developer, user, assistant, tool");
  return role;
}

json::object read_message(const Fields& message) {
  json::object out;
  const std::string role = read_role(message);
  out["role"] = role;
  json::array calls = read_tool_calls(message, role, read_call);
  out["content"] = read_content(message, role, calls);
  if (!calls.empty()) out["tool_calls"] = std::move(calls);
  for (std::string_view name : {"name", "tool_call_id", "reasoning_content"}) {
    if (const auto text = message.text(name)) out[name] = *text;
  }
  for (std::string_view name : {"images", "audio"}) {
    if (message.has(name)) message.fail(name, "this server takes text only");
  }
  if (message.has("function_call")) {
    message.fail("function_call",
                 "the old form of function calling is not supported; use tool_calls");
  }
  return out;
}

}  // namespace

std::string read_messages(const Fields& body) {
  const json::array* messages = body.list("messages");
  if (messages == nullptr || messages->empty()) {
    body.fail("messages", "a list with at least one message is required");
    return {};
  }
  json::array out;
  for (std::size_t i = 0; i < messages->size() && !body.failed(); ++i) {
    const std::optional<Fields> message = body.element("messages", *messages, i);
    if (message) out.push_back(read_message(*message));
  }
  return body.failed() ? std::string{} : json::serialize(out);
}

}  // namespace hearth::api::openai
