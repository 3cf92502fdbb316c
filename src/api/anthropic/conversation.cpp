// SPDX-License-Identifier: Apache-2.0
#include "api/anthropic/conversation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/turns.h"

namespace hearth::api::anthropic {
namespace json = boost::json;
namespace {

bool is_media(std::string_view type) {
  static constexpr std::array<std::string_view, 5> kTypes{"image", "document", "search_result",
                                                          "container_upload", "browser_state"};
  return std::ranges::find(kTypes, type) != kTypes.end();
}

std::string read_text(const Fields& block) {
  if (!block.has("text")) block.fail("text", "a string is required here");
  (void)block.object("cache_control");
  return block.text("text").value_or("");
}

void refuse_type(const Fields& block, const std::string& type, std::string_view possible) {
  if (block.failed()) return;
  if (is_media(type)) {
    block.fail("type",
               "this server takes text only: blocks of type " + type + " are not supported");
    return;
  }
  block.fail("type", fmt::format("a block of this type is not possible here; {}", possible));
}

// A member that is a string or a list of text blocks.
std::string read_texts(const Fields& holder, std::string_view name) {
  const json::value* content = holder.find(name);
  if (content == nullptr) return {};
  if (content->is_string()) return std::string{std::string_view{content->get_string()}};
  if (!content->is_array()) {
    holder.fail(name, fmt::format("a string or a list of text blocks is expected, not {}",
                                  kind_name(*content)));
    return {};
  }
  std::string joined;
  const json::array& blocks = content->get_array();
  for (std::size_t i = 0; i < blocks.size() && !holder.failed(); ++i) {
    const std::optional<Fields> block = holder.element(name, blocks, i);
    if (!block) break;
    const std::string type = block->required_text("type");
    if (type != "text") refuse_type(*block, type, "text is");
    append_line(joined, read_text(*block));
  }
  return joined;
}

void read_result(const Fields& block, Turns& out) {
  const std::string id = block.required_text("tool_use_id");
  const std::string text = read_texts(block, "content");
  const bool is_error = block.flag("is_error").value_or(false);
  out.add_result(id, is_error ? "Error: " + text : text);
}

void read_call(const Fields& block, Turns& out) {
  const std::string id = block.required_text("id");
  const std::string name = block.required_text("name");
  const std::optional<Fields> input = block.object("input");
  if (!input) block.fail("input", "an object is required here");
  out.add_call(id, name, input ? json::serialize(input->json()) : "{}");
}

void read_user_block(const Fields& block, const std::string& role, Turns& out) {
  const std::string type = block.required_text("type");
  if (type == "text") {
    out.add_text(role, read_text(block));
  } else if (type == "tool_result" && role == "user") {
    read_result(block, out);
  } else {
    refuse_type(block, type, role == "user" ? "text and tool_result are" : "text is");
  }
}

void read_assistant_block(const Fields& block, Turns& out) {
  const std::string type = block.required_text("type");
  if (type == "text") {
    out.add_text("assistant", read_text(block));
  } else if (type == "tool_use") {
    read_call(block, out);
  } else if (type == "thinking") {
    if (!block.has("thinking")) block.fail("thinking", "a string is required here");
    out.add_reasoning(block.text("thinking").value_or(""));
  } else if (type == "redacted_thinking") {
    out.turn_of("assistant");
  } else {
    refuse_type(block, type, "text, thinking and tool_use are");
  }
}

void read_blocks(const Fields& message, const std::string& role, Turns& out) {
  const json::array& blocks = *message.list("content");
  if (blocks.empty()) message.fail("content", "the list is empty");
  for (std::size_t i = 0; i < blocks.size() && !message.failed(); ++i) {
    const std::optional<Fields> block = message.element("content", blocks, i);
    if (!block) return;
    if (role == "assistant") {
      read_assistant_block(*block, out);
    } else {
      read_user_block(*block, role, out);
    }
  }
}

void read_message(const Fields& message, Turns& out) {
  const std::string role = message.required_text("role");
  if (role != "user" && role != "assistant") {
    message.fail("role", "must be user or assistant; what the system says has a field of its own");
  }
  const json::value* content = message.find("content");
  if (content == nullptr) {
    message.fail("content", "a string or a list of blocks is required here");
  } else if (content->is_string()) {
    out.add_text(role, std::string_view{content->get_string()});
  } else if (content->is_array()) {
    read_blocks(message, role, out);
  } else {
    message.fail("content", fmt::format("a string or a list of blocks is expected, not {}",
                                        kind_name(*content)));
  }
}

}  // namespace

std::string read_conversation(const Fields& body) {
  Turns out;
  if (const std::string system = read_texts(body, "system"); !system.empty()) {
    out.add_text("system", system);
  }
  const json::array* messages = body.list("messages");
  if (messages == nullptr || messages->empty()) {
    body.fail("messages", "a list with at least one message is required");
    return {};
  }
  for (std::size_t i = 0; i < messages->size() && !body.failed(); ++i) {
    const std::optional<Fields> message = body.element("messages", *messages, i);
    if (message) read_message(*message, out);
  }
  if (body.failed()) return {};
  const std::size_t last = messages->size() - 1;
  if (messages->back().at("role") == json::value("assistant")) {
    body.fail_at(fmt::format("messages[{}].role", last),
                 "the last message must be the user's: this server does not continue a text that "
                 "was begun for the assistant");
    return {};
  }
  return out.text();
}

}  // namespace hearth::api::anthropic
