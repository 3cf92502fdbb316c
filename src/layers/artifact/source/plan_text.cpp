// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/source/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/json.h"
#include "base/sha256.h"

namespace hearth {
namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, 5> kKinds{"template", "system", "params", "license",
                                                 "messages"};

Failed damaged(const PlannedFile& file, std::string_view what) {
  return fail(ErrorCode::kCorrupt, fmt::format("the model's {} {}", file.name, what));
}

bool is_parameter(const json::value& value) {
  if (value.is_number() || value.is_bool() || value.is_string()) return true;
  const json::array* list = value.if_array();
  return list != nullptr && std::ranges::all_of(*list, &json::value::is_string);
}

bool is_message(const json::value& value) {
  const json::object* message = value.if_object();
  const json::value* role = message != nullptr ? message->if_contains("role") : nullptr;
  return role != nullptr && role->is_string();
}

Result<std::string> parameters_of(const PlannedFile& file, std::string_view text) {
  const Result<json::value> value = parse_json(text);
  const json::object* object = value ? value->if_object() : nullptr;
  if (object == nullptr) return damaged(file, "are no JSON object");
  for (const auto& member : *object) {
    if (!is_parameter(member.value())) return damaged(file, "have a value of a strange kind");
  }
  return json::serialize(*object);
}

Result<std::string> messages_of(const PlannedFile& file, std::string_view text) {
  const Result<json::value> value = parse_json(text);
  const json::array* list = value ? value->if_array() : nullptr;
  if (list == nullptr || !std::ranges::all_of(*list, is_message)) {
    return damaged(file, "are no list of messages");
  }
  return list->empty() ? std::string{} : json::serialize(*list);
}

Result<std::string> plain_text(const PlannedFile& file, std::string_view text) {
  const bool fit = is_utf8(text) && text.find('\0') == std::string_view::npos;
  if (!fit) return damaged(file, "is no text");
  return std::string{text};
}

Result<> keep(std::string& into, Result<std::string> text) {
  if (!text) return Failed{std::move(text).error()};
  into = std::move(*text);
  return {};
}

Result<> add_license(std::string& license, Result<std::string> text) {
  if (!text) return Failed{std::move(text).error()};
  if (!license.empty()) license += "\n\n";
  license += *text;
  return {};
}

}  // namespace

bool is_plan_text(std::string_view kind) { return std::ranges::find(kKinds, kind) != kKinds.end(); }

Result<> apply_text(FetchPlan& plan, const PlannedFile& file, std::string_view text) {
  if (Bytes{text.size()} > kMaxPlanText) return damaged(file, "is too long");
  if (!file.sha256.empty() && hex_of(Sha256{}.add(text).finish()) != file.sha256) {
    return damaged(file, "is not what its digest promises; it was changed on its way");
  }
  ModelSettings& settings = plan.settings;
  if (file.name == "template") return keep(settings.chat_template, plain_text(file, text));
  if (file.name == "system") return keep(settings.system, plain_text(file, text));
  if (file.name == "params") return keep(settings.parameters, parameters_of(file, text));
  if (file.name == "messages") return keep(settings.messages, messages_of(file, text));
  if (file.name == "license") return add_license(settings.license, plain_text(file, text));
  return fail(ErrorCode::kInternal, "a text of unknown kind in a plan");
}

}  // namespace hearth
