// SPDX-License-Identifier: Apache-2.0
#include "front/modules/module_prompt.h"

#include <algorithm>
#include <boost/json.hpp>
#include <string_view>
#include <utility>

#include "base/json.h"

namespace hearth::front {
namespace json = boost::json;
namespace {

constexpr std::string_view kBlankLine = "\n\n";

Failed no_messages() {
  return fail(ErrorCode::kInvalid, "modules stand before messages, and there are none");
}

bool is_system(const json::value& message) {
  const json::value* role = message.get_object().if_contains("role");
  return role != nullptr && (*role == "system" || *role == "developer");
}

json::object text_part(std::string text) { return {{"type", "text"}, {"text", std::move(text)}}; }

// Before what it says already, which is a text, or parts of one.
void put_before(json::object& message, std::string text) {
  json::value& content = message["content"];
  const bool parts = content.is_array() && !content.get_array().empty();
  const bool says = content.is_string() && !content.get_string().empty();
  if (parts || says) text += kBlankLine;
  if (parts) {
    json::array& list = content.get_array();
    list.insert(list.begin(), text_part(std::move(text)));
    return;
  }
  if (says) text += std::string_view{content.get_string()};
  content = std::move(text);
}

wire::GenerateMessage probe(const std::string& system, std::string_view user) {
  wire::GenerateMessage message;
  message.messages = json::serialize(json::array{
      json::object{{"role", "system"}, {"content", system}},
      json::object{{"role", "user"}, {"content", user}},
  });
  message.count_only = true;
  message.return_tokens = true;
  return message;
}

}  // namespace

std::string joined_modules(std::span<const std::string> texts) {
  std::string out;
  for (const std::string& text : texts) {
    if (!out.empty()) out += kBlankLine;
    out += text;
  }
  return out;
}

Result<std::string> with_modules(const std::string& messages, std::span<const std::string> texts) {
  if (messages.empty()) return no_messages();
  Result<json::value> parsed = parse_json(messages);
  const bool list = parsed && parsed->is_array() && !parsed->get_array().empty() &&
                    std::ranges::all_of(parsed->get_array(),
                                        [](const json::value& each) { return each.is_object(); });
  if (!list) return no_messages();
  json::array& all = parsed->get_array();
  std::string text = joined_modules(texts);
  if (is_system(all.front())) {
    put_before(all.front().get_object(), std::move(text));
  } else {
    all.insert(all.begin(), json::object{{"role", "system"}, {"content", std::move(text)}});
  }
  return json::serialize(all);
}

ModuleProbes module_probes(const std::string& text) { return {probe(text, "7"), probe(text, "x")}; }

std::vector<int> common_beginning(std::span<const int> a, std::span<const int> b) {
  const auto [end, other] = std::ranges::mismatch(a, b);
  return {a.begin(), end};
}

}  // namespace hearth::front
