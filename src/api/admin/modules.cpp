// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "api/admin/admin.h"
#include "api/errors.h"
#include "api/fields.h"
#include "timeline/json_writer.h"

namespace hearth::api::admin {
namespace {

using front::ModuleShown;

using ModuleCall = front::Service::ModuleRequest;

void read_models(const Fields& body, std::vector<std::string>& models) {
  const boost::json::array* list = body.list("models");
  if (list == nullptr) return;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const boost::json::value& value = (*list)[i];
    if (!value.is_string()) {
      body.fail_at(fmt::format("models[{}]", i), "the name of a model is expected");
      return;
    }
    models.emplace_back(std::string_view{value.get_string()});
  }
}

Result<ModuleCall> parse_module(const std::string& text, const std::string& name) {
  auto object = parse_body(text);
  if (!object) return Failed{std::move(object).error()};
  Fields::FirstError error;
  const Fields body{*object, "", error};
  ModuleCall call;
  call.name = name;
  call.text = body.required_text("text");
  read_models(body, call.models);
  if (error) return Failed{std::move(*error)};
  return call;
}

ModuleShown shown_to(const Call& call, ModuleShown::Text text) {
  const bool admin = audience_of(call) == Audience::kAdmin;
  return {admin ? ModuleShown::Files::kShown : ModuleShown::Files::kHidden, text};
}

http::HttpResponse answer_of(const Call& call, const Result<front::ModuleStatus>& module,
                             ModuleShown::Text text) {
  if (!module) return error_response(call.dialect, audience_of(call), module.error());
  return http::HttpResponse::json(200, to_json(*module, shown_to(call, text)));
}

Task<void> respond(Call call, http::HttpResponse response) {
  (void)co_await call.exchange.respond(std::move(response));
}

}  // namespace

Task<void> list_modules(Call call) {
  std::string list = "[";
  for (const front::ModuleStatus& module : call.service.modules()) {
    if (list.size() > 1) list += ',';
    list += to_json(module, shown_to(call, ModuleShown::Text::kLeftOut));
  }
  auto response = http::HttpResponse::json(200, JsonWriter{}.raw("modules", list + "]").object());
  co_await respond(std::move(call), std::move(response));
}

Task<void> show_module(Call call) {
  const auto module = call.service.module(call.argument);
  auto response = answer_of(call, module, ModuleShown::Text::kShown);
  co_await respond(std::move(call), std::move(response));
}

Task<void> set_module(Call call) {
  auto request = parse_module(call.request().body, call.argument);
  if (!request) {
    auto refusal = error_response(call.dialect, audience_of(call), request.error());
    co_await respond(std::move(call), std::move(refusal));
    co_return;
  }
  const auto module = co_await call.service.set_module(std::move(*request));
  auto response = answer_of(call, module, ModuleShown::Text::kLeftOut);
  co_await respond(std::move(call), std::move(response));
}

Task<void> remove_module(Call call) {
  const auto removed = co_await call.service.remove_module(call.argument);
  auto response = removed ? http::HttpResponse::json(
                                200, JsonWriter{}.string("removed", call.argument).object())
                          : error_response(call.dialect, audience_of(call), removed.error());
  co_await respond(std::move(call), std::move(response));
}

}  // namespace hearth::api::admin
