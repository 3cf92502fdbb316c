// SPDX-License-Identifier: Apache-2.0
#include "front/merged_settings.h"

#include <boost/json.hpp>
#include <utility>

#include "base/json.h"

namespace hearth::front {
namespace {

namespace json = boost::json;

Failed invalid(std::string field, std::string what) {
  return Failed{Error{ErrorCode::kInvalid, std::move(what)}.at(std::move(field))};
}

Result<std::string> merged_parameters(const std::string& base, const std::string& said) {
  Result<json::value> over = parse_json(said);
  if (!over || !over->is_object()) return invalid("parameters", "must be a JSON object");
  json::object all;
  if (Result<json::value> under = parse_json(base); under && under->is_object()) {
    all = std::move(under->get_object());
  }
  for (const auto& [name, value] : over->get_object()) {
    if (value.is_null()) {
      all.erase(name);
    } else {
      all.insert_or_assign(name, value);
    }
  }
  return all.empty() ? std::string{} : json::serialize(all);
}

}  // namespace

Result<ModelSettings> merged_settings(ModelSettings base, const CreateRequest& request) {
  if (request.system) base.system = *request.system;
  if (request.chat_template) base.chat_template = *request.chat_template;
  if (request.license) base.license = *request.license;
  if (!request.parameters.empty()) {
    Result<std::string> parameters = merged_parameters(base.parameters, request.parameters);
    if (!parameters) return Failed{std::move(parameters).error()};
    base.parameters = std::move(*parameters);
  }
  if (!request.messages.empty()) {
    const Result<json::value> messages = parse_json(request.messages);
    if (!messages || !messages->is_array()) return invalid("messages", "must be a JSON list");
    base.messages = messages->get_array().empty() ? std::string{} : request.messages;
  }
  return base;
}

}  // namespace hearth::front
