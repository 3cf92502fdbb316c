// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/model_settings.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/json.h"
#include "base/text.h"

namespace hearth {
namespace {

namespace json = boost::json;

using Member = std::pair<std::string_view, std::string ModelSettings::*>;
constexpr std::array<Member, 5> kMembers{{
    {"system", &ModelSettings::system},
    {"parameters", &ModelSettings::parameters},
    {"template", &ModelSettings::chat_template},
    {"license", &ModelSettings::license},
    {"messages", &ModelSettings::messages},
}};

// Words that an action of Go's templates may begin with.
constexpr std::array<std::string_view, 12> kGoWords{"if",    "range",  "end",      "else",
                                                    "with",  "define", "template", "block",
                                                    "break", "and",    "or",       "json"};

bool is_go_action(std::string_view action) {
  if (action.starts_with('-')) action.remove_prefix(1);
  action = trimmed(action, " \t\r\n");
  if (action.starts_with('.') || action.starts_with('$') || action.starts_with("/*")) return true;
  const std::string_view word = action.substr(0, action.find_first_of(" \t\r\n(-}"));
  return std::ranges::find(kGoWords, word) != kGoWords.end();
}

// Where an action begins shows what it is: looking further would take a stranger's template of
// nothing but braces quadratic time.
constexpr std::size_t kBeginning = 64;

bool has_go_action(std::string_view text) {
  for (std::size_t at = text.find("{{"); at != std::string_view::npos; at = text.find("{{")) {
    text.remove_prefix(at + 2);
    const std::string_view beginning = text.substr(0, kBeginning);
    if (is_go_action(beginning.substr(0, beginning.find("}}")))) return true;
  }
  return false;
}

bool is_json(std::string_view text, json::kind kind) {
  if (text.empty()) return true;
  const Result<json::value> value = parse_json(text);
  return value && value->kind() == kind;
}

}  // namespace

bool is_jinja(std::string_view chat_template) {
  const bool has_actions = chat_template.find("{{") != std::string_view::npos ||
                           chat_template.find("{%") != std::string_view::npos;
  return has_actions && !has_go_action(chat_template);
}

std::string json_of(const ModelSettings& settings) {
  json::object object;
  for (const auto& [name, member] : kMembers) {
    if (!(settings.*member).empty()) object[name] = settings.*member;
  }
  return json::serialize(object);
}

Result<ModelSettings> settings_of(std::string_view text) {
  const auto damaged = fail(ErrorCode::kCorrupt, "a model's settings cannot be read");
  const Result<json::value> value = parse_json(text);
  const json::object* object = value ? value->if_object() : nullptr;
  if (object == nullptr) return damaged;
  ModelSettings settings;
  for (const auto& [name, member] : kMembers) {
    const json::value* said = object->if_contains(name);
    if (said != nullptr && !said->is_string()) return damaged;
    if (said != nullptr) settings.*member = std::string{std::string_view{said->get_string()}};
  }
  if (!is_json(settings.parameters, json::kind::object)) return damaged;
  if (!is_json(settings.messages, json::kind::array)) return damaged;
  return settings;
}

}  // namespace hearth
