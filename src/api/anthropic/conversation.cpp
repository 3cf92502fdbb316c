// SPDX-License-Identifier: Apache-2.0
#include "api/anthropic/conversation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace hearth::api::anthropic {
namespace json = boost::json;
namespace {

void append_line(json::value& text, std::string_view more) {
  json::string& string = text.get_string();
  if (!string.empty() && !more.empty()) string += '\n';
  string += more;
}

bool is_media(std::string_view type) {
  static constexpr std::array<std::string_view, 5> kTypes{"image", "document", "search_result",
                                                          "container_upload", "browser_state"};
  return std::ranges::find(kTypes, type) != kTypes.end();
}

// The turns so far, in OpenAI's shape.
class Conversation {
 public:
  void add_text(std::string_view role, std::string_view text) {
    append_line(turn_of(role)["content"], text);
  }

  void add_reasoning(std::string_view text) {
    json::value& reasoning = turn_of("assistant")["reasoning_content"];
    if (reasoning.is_null()) reasoning.emplace_string();
    append_line(reasoning, text);
  }

  void add_call(const std::string& id, const std::string& name, std::string arguments) {
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

  void add_result(const std::string& id, std::string_view text) {
    json::object result;
    result["role"] = "tool";
    result["tool_call_id"] = id;
    if (const auto name = names_.find(id); name != names_.end()) result["name"] = name->second;
    result["content"] = text;
    turns_.push_back(std::move(result));
  }

  // A turn without any text, if there is none of this role to add to.
  json::object& turn_of(std::string_view role) {
    if (turns_.empty() || turns_.back().at("role") != json::value(role)) {
      json::object turn;
      turn["role"] = role;
      turn["content"] = "";
      turns_.push_back(std::move(turn));
    }
    return turns_.back().get_object();
  }

  std::string text() {
    for (json::value& turn : turns_) {
      json::object& object = turn.get_object();
      const bool only_calls = object.contains("tool_calls") && object["content"] == json::value("");
      if (only_calls) object["content"] = nullptr;
    }
    return json::serialize(turns_);
  }

 private:
  json::array turns_;
  std::map<std::string, std::string> names_;  // of the tools, by the ids of their calls
};

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
  json::value joined = json::string{};
  const json::array& blocks = content->get_array();
  for (std::size_t i = 0; i < blocks.size() && !holder.failed(); ++i) {
    const std::optional<Fields> block = holder.element(name, blocks, i);
    if (!block) break;
    const std::string type = block->required_text("type");
    if (type != "text") refuse_type(*block, type, "text is");
    append_line(joined, read_text(*block));
  }
  return std::string{std::string_view{joined.get_string()}};
}

void read_result(const Fields& block, Conversation& out) {
  const std::string id = block.required_text("tool_use_id");
  const std::string text = read_texts(block, "content");
  const bool is_error = block.flag("is_error").value_or(false);
  out.add_result(id, is_error ? "Error: " + text : text);
}

void read_call(const Fields& block, Conversation& out) {
  const std::string id = block.required_text("id");
  const std::string name = block.required_text("name");
  const std::optional<Fields> input = block.object("input");
  if (!input) block.fail("input", "an object is required here");
  out.add_call(id, name, input ? json::serialize(input->json()) : "{}");
}

void read_user_block(const Fields& block, const std::string& role, Conversation& out) {
  const std::string type = block.required_text("type");
  if (type == "text") {
    out.add_text(role, read_text(block));
  } else if (type == "tool_result" && role == "user") {
    read_result(block, out);
  } else {
    refuse_type(block, type, role == "user" ? "text and tool_result are" : "text is");
  }
}

void read_assistant_block(const Fields& block, Conversation& out) {
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

void read_blocks(const Fields& message, const std::string& role, Conversation& out) {
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

void read_message(const Fields& message, Conversation& out) {
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
  Conversation out;
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
