// SPDX-License-Identifier: Apache-2.0
#include "api/admin/admin.h"
#include "api/admin/answer.h"
#include "api/errors.h"
#include "api/fields.h"
#include "api/generation.h"
#include "api/model_json.h"
#include "timeline/json_writer.h"

namespace hearth::api::admin {
namespace {

struct ImportCall {
  std::string path;
  std::string name;
};

Result<ImportCall> parse_import(const std::string& text) {
  auto object = parse_body(text);
  if (!object) return Failed{std::move(object).error()};
  Fields::FirstError error;
  const Fields body{*object, "", error};
  ImportCall call{body.required_text("path"), body.required_text("name")};
  if (error) return Failed{std::move(*error)};
  return call;
}

std::string details_json(const front::ModelStatus& model, const front::ModelDetails& details) {
  const auto or_else = [](const std::string& json, std::string_view empty) {
    return json.empty() ? empty : std::string_view{json};
  };
  JsonWriter out;
  out.string("name", model.name).raw("metadata", or_else(details.metadata, "{}"));
  out.string("chat_template", details.chat_template).string("license", details.license_text);
  out.raw("tensors", or_else(details.tensors, "[]")).raw("layers", or_else(details.layers, "[]"));
  out.raw("need", or_else(details.need, "{}"));
  if (!details.storage.empty()) out.raw("storage", details.storage);
  return out.object();
}

Task<void> respond(Call call, http::HttpResponse response) {
  (void)co_await call.exchange.respond(std::move(response));
}

}  // namespace

Task<void> list_models(Call call) {
  std::string list = "[";
  for (const front::ModelStatus& model : call.service.models()) {
    if (list.size() > 1) list += ',';
    list += model_json(model, audience_of(call));
  }
  list += ']';
  co_await respond(call, http::HttpResponse::json(200, JsonWriter{}.raw("models", list).object()));
}

Task<void> show_model(Call call) {
  co_await respond(call, model_answer(call, call.service.model(call.argument)));
}

Task<void> show_details(Call call) {
  const auto model = call.service.model(call.argument);
  if (!model) {
    co_await refuse(std::move(call), model.error());
    co_return;
  }
  const auto details = co_await call.service.details(call.argument);
  auto response = details ? http::HttpResponse::json(200, details_json(*model, *details))
                          : error_response(call.dialect, audience_of(call), details.error());
  co_await respond(call, std::move(response));
}

Task<void> remove_model(Call call) {
  const auto removed = co_await call.service.remove_model(call.argument);
  auto response = removed ? http::HttpResponse::json(
                                200, JsonWriter{}.string("removed", call.argument).object())
                          : error_response(call.dialect, audience_of(call), removed.error());
  co_await respond(call, std::move(response));
}

Task<void> import_model(Call call) {
  auto request = parse_import(call.request().body);
  if (!request) {
    co_await respond(call, error_response(call.dialect, audience_of(call), request.error()));
    co_return;
  }
  auto result =
      co_await call.service.import_model(std::move(request->path), std::move(request->name));
  co_await respond(call, model_answer(call, result));
}

}  // namespace hearth::api::admin
