// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "api/admin/admin.h"
#include "api/errors.h"
#include "api/fields.h"
#include "api/generation.h"
#include "api/model_json.h"
#include "timeline/json_writer.h"

namespace hearth::api::admin {
namespace {

constexpr std::array<std::string_view, 5> kLayers{"artifact", "pages", "weights", "compiled",
                                                  "prefix"};

struct ModelCall {
  std::string model;
  std::string layer;
};

struct ImportCall {
  std::string path;
  std::string name;
};

enum class Layer { kNone, kRequired };

Result<ModelCall> parse_model_call(const std::string& text, Layer layer) {
  auto object = parse_body(text);
  if (!object) return Failed{std::move(object).error()};
  Fields::FirstError error;
  const Fields body{*object, "", error};
  ModelCall call{body.required_text("model"), {}};
  if (layer == Layer::kRequired) {
    call.layer = body.required_text("layer");
    if (std::ranges::find(kLayers, call.layer) == kLayers.end()) {
      body.fail("layer", "must be artifact, pages, weights, compiled or prefix");
    }
  }
  if (error) return Failed{std::move(*error)};
  return call;
}

Result<ImportCall> parse_import(const std::string& text) {
  auto object = parse_body(text);
  if (!object) return Failed{std::move(object).error()};
  Fields::FirstError error;
  const Fields body{*object, "", error};
  ImportCall call{body.required_text("path"), body.required_text("name")};
  if (error) return Failed{std::move(*error)};
  return call;
}

http::HttpResponse answer(const Result<front::ModelStatus>& model) {
  if (!model) return error_response(Dialect::kHearth, Audience::kAdmin, model.error());
  return http::HttpResponse::json(200, model_json(*model, Audience::kAdmin));
}

Task<void> respond(Call call, http::HttpResponse response) {
  (void)co_await call.exchange.respond(std::move(response));
}

using OnModel = Task<Result<front::ModelStatus>> (front::Service::*)(std::string);
using OnLayer = Task<Result<front::ModelStatus>> (front::Service::*)(std::string, std::string);

Task<void> change_model(Call call, OnModel change) {
  auto request = parse_model_call(call.request().body, Layer::kNone);
  if (!request) {
    co_await respond(call, error_response(Dialect::kHearth, Audience::kAdmin, request.error()));
    co_return;
  }
  auto result = co_await (call.service.*change)(std::move(request->model));
  co_await respond(call, answer(result));
}

Task<void> change_layer(Call call, OnLayer change) {
  auto request = parse_model_call(call.request().body, Layer::kRequired);
  if (!request) {
    co_await respond(call, error_response(Dialect::kHearth, Audience::kAdmin, request.error()));
    co_return;
  }
  auto result =
      co_await (call.service.*change)(std::move(request->model), std::move(request->layer));
  co_await respond(call, answer(result));
}

}  // namespace

Task<void> list_models(Call call) {
  std::string list = "[";
  for (const front::ModelStatus& model : call.service.models()) {
    if (list.size() > 1) list += ',';
    list += model_json(model, Audience::kAdmin);
  }
  list += ']';
  co_await respond(call, http::HttpResponse::json(200, JsonWriter{}.raw("models", list).object()));
}

Task<void> show_model(Call call) {
  co_await respond(call, answer(call.service.model(call.argument)));
}

Task<void> remove_model(Call call) {
  const auto removed = co_await call.service.remove_model(call.argument);
  auto response = removed ? http::HttpResponse::json(
                                200, JsonWriter{}.string("removed", call.argument).object())
                          : error_response(Dialect::kHearth, Audience::kAdmin, removed.error());
  co_await respond(call, std::move(response));
}

Task<void> import_model(Call call) {
  auto request = parse_import(call.request().body);
  if (!request) {
    co_await respond(call, error_response(Dialect::kHearth, Audience::kAdmin, request.error()));
    co_return;
  }
  auto result =
      co_await call.service.import_model(std::move(request->path), std::move(request->name));
  co_await respond(call, answer(result));
}

Task<void> load(Call call) {
  auto request = parse_model_call(call.request().body, Layer::kNone);
  if (!request) {
    co_await respond(call, error_response(Dialect::kHearth, Audience::kAdmin, request.error()));
    co_return;
  }
  RequestOptions options;
  options.model = request->model;
  front::LoadRequest load{context_of(call, options)};
  const auto reply = call.service.load(std::move(load));
  Collected nothing;
  front::Event event = co_await collect(*reply, nothing);
  if (auto* refused = std::get_if<front::Refused>(&event)) {
    co_await send_refusal(call, *reply, std::move(*refused));
    co_return;
  }
  co_await respond(call, answer(call.service.model(options.model)));
  reply->sent(200);
}

Task<void> unload(Call call) { return change_model(std::move(call), &front::Service::unload); }
Task<void> warm(Call call) { return change_layer(std::move(call), &front::Service::warm); }
Task<void> cool(Call call) { return change_layer(std::move(call), &front::Service::cool); }

}  // namespace hearth::api::admin
