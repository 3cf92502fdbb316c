// SPDX-License-Identifier: Apache-2.0
#include "api/responses/items.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace hearth::api::responses {
namespace json = boost::json;
namespace {

struct PartKind {
  std::string_view type;
  std::string_view text;  // the member that has it
};

constexpr std::array kParts{PartKind{"input_text", "text"}, PartKind{"output_text", "text"},
                            PartKind{"text", "text"}, PartKind{"refusal", "refusal"}};

bool is_media(std::string_view type) {
  return type == "input_image" || type == "input_file" || type == "input_audio";
}

std::string read_part(const Fields& part) {
  const std::string type = part.required_text("type");
  if (part.failed()) return {};
  const auto* kind = std::ranges::find(kParts, type, &PartKind::type);
  if (kind == kParts.end()) {
    part.fail("type", is_media(type) ? "this server takes text only: parts of type " + type +
                                           " are not supported"
                                     : "this type of content is not known; input_text is");
    return {};
  }
  if (!part.has(kind->text)) part.fail(kind->text, "a string is required here");
  return part.text(kind->text).value_or("");
}

// A member that is a text or a list of parts.
std::string read_texts(const Fields& item, std::string_view member) {
  const json::value* content = item.find(member);
  if (content == nullptr) {
    item.fail(member, "a string or a list of text parts is required here");
    return {};
  }
  if (content->is_string()) return std::string{std::string_view{content->get_string()}};
  const json::array* parts = item.list(member);
  std::string joined;
  for (std::size_t i = 0; parts != nullptr && i < parts->size() && !item.failed(); ++i) {
    const std::optional<Fields> part = item.element(member, *parts, i);
    if (part) append_line(joined, read_part(*part));
  }
  return joined;
}

void read_message(const Fields& item, Turns& turns) {
  std::string role = item.required_text("role");
  if (role == "developer") role = "system";
  if (role != "system" && role != "user" && role != "assistant") {
    item.fail("role", "must be one of system, developer, user, assistant");
  }
  const std::string text = read_texts(item, "content");
  if (!item.failed()) turns.add_text(role, text);
}

void read_call(const Fields& item, Turns& turns) {
  const std::string id = item.required_text("call_id");
  const std::string name = item.required_text("name");
  if (!item.has("arguments")) item.fail("arguments", "a string is required here");
  std::string arguments = item.text("arguments").value_or("{}");
  if (!item.failed()) turns.add_call(id, name, std::move(arguments));
}

void read_result(const Fields& item, Turns& turns) {
  const std::string id = item.required_text("call_id");
  const std::string text = read_texts(item, "output");
  if (!item.failed() && !turns.has_call(id)) {
    item.fail("call_id", "no function_call before this item has the call_id " + id);
  }
  if (!item.failed()) turns.add_result(id, text);
}

// The texts of a list of parts, whatever their types.
std::string reasoning_text(const Fields& item, std::string_view member) {
  const json::array* parts = item.list(member);
  std::string joined;
  for (std::size_t i = 0; parts != nullptr && i < parts->size() && !item.failed(); ++i) {
    const std::optional<Fields> part = item.element(member, *parts, i);
    if (part) append_line(joined, part->text("text").value_or(""));
  }
  return joined;
}

// Encrypted reasoning is another server's, which nobody here can read.
void read_reasoning(const Fields& item, Turns& turns) {
  std::string text = reasoning_text(item, "content");
  if (text.empty()) text = reasoning_text(item, "summary");
  if (!text.empty() && !item.failed()) turns.add_reasoning(text);
}

std::string type_of(const Fields& item) {
  return item.text("type").value_or(item.has("role") ? "message" : "");
}

void read_item(const Fields& item, Turns& turns) {
  const std::string type = type_of(item);
  if (type == "message") return read_message(item, turns);
  if (type == "function_call") return read_call(item, turns);
  if (type == "function_call_output") return read_result(item, turns);
  if (type == "reasoning") return read_reasoning(item, turns);
  if (type == "item_reference") {
    item.fail("type", "single items are not kept; send the item, or use previous_response_id");
    return;
  }
  item.fail("type",
            "items of this type are not possible here; message, function_call, "
            "function_call_output and reasoning are");
}

std::string_view id_prefix(std::string_view type) {
  if (type == "function_call") return "fc";
  if (type == "function_call_output") return "fco";
  return type == "reasoning" ? "rs" : "msg";
}

json::object text_part(std::string_view role, std::string_view text) {
  json::object part;
  part["type"] = role == "assistant" ? "output_text" : "input_text";
  part["text"] = text;
  if (role == "assistant") part["annotations"] = json::array{};
  return part;
}

json::object message_item(std::string_view role, std::string_view text) {
  json::object item;
  item["type"] = "message";
  item["role"] = role;
  item["content"].emplace_array().push_back(text_part(role, text));
  return item;
}

json::object listed_item(const json::object& item) {
  json::object out = item;
  if (!out.contains("type")) out["type"] = "message";
  const json::value* content = out.if_contains("content");
  if (content == nullptr || !content->is_string()) return out;
  const json::string text = content->get_string();
  const std::string role{std::string_view{out.at("role").as_string()}};
  out["content"].emplace_array().push_back(text_part(role, text));
  return out;
}

}  // namespace

void read_items(const Fields& body, std::string_view member, Turns& turns) {
  const json::value* input = body.find(member);
  if (input == nullptr) {
    body.fail(member, "a string or a list of items is required here");
    return;
  }
  if (input->is_string()) {
    turns.add_text("user", std::string_view{input->get_string()});
    return;
  }
  if (!input->is_array()) {
    body.fail(member,
              fmt::format("a string or a list of items is expected, not {}", kind_name(*input)));
    return;
  }
  const json::array& items = input->get_array();
  for (std::size_t i = 0; i < items.size() && !body.failed(); ++i) {
    const std::optional<Fields> item = body.element(member, items, i);
    if (item) read_item(*item, turns);
  }
}

json::array listed_items(const json::value& input, std::string_view request_id) {
  json::array out;
  if (input.is_string()) {
    out.push_back(message_item("user", std::string_view{input.get_string()}));
  } else {
    for (const json::value& item : input.as_array()) out.push_back(listed_item(item.as_object()));
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    json::object& item = out[i].get_object();
    const json::value* id = item.if_contains("id");
    if (id != nullptr && id->is_string()) continue;
    const std::string type{std::string_view{item.at("type").as_string()}};
    item["id"] = fmt::format("{}_{}_in{}", id_prefix(type), request_id, i);
  }
  return out;
}

}  // namespace hearth::api::responses
