// SPDX-License-Identifier: Apache-2.0
#include "api/admin/admin.h"
#include "api/admin/answer.h"
#include "api/admin/level_requests.h"
#include "api/admin/load.h"
#include "api/errors.h"
#include "api/json_text.h"
#include "timeline/json_writer.h"

namespace hearth::api::admin {
namespace {

using Changed = Result<front::ModelStatus>;
using Parse = Result<LayerCall> (*)(const std::string&);
using Change = Task<Changed> (*)(front::Service&, LayerCall);

Task<Changed> unload_now(front::Service& service, LayerCall call) {
  return service.unload(std::move(call.model));
}
Task<Changed> cool_now(front::Service& service, LayerCall call) {
  return service.cool(std::move(call.model), std::move(call.layer));
}

// Answers with the model as it is then; for all models, with what came of it.
Task<void> cool_prefixes(Call call, LayerCall wanted) {
  front::PrefixChoice choice{wanted.model, std::move(wanted.key), front::PrefixChoice::Tier::kAll};
  if (wanted.memory_only) choice.tier = front::PrefixChoice::Tier::kMemory;
  const Result<Bytes> freed = co_await call.service.cool_prefix(std::move(choice));
  if (!freed) {
    co_await refuse(std::move(call), freed.error());
    co_return;
  }
  const auto bytes = static_cast<std::int64_t>(freed->count());
  http::HttpResponse response =
      wanted.model.empty()
          ? http::HttpResponse::json(200, JsonWriter{}.integer("freed_bytes", bytes).object())
          : model_answer(call, call.service.model(wanted.model));
  (void)co_await call.exchange.respond(std::move(response));
}

Task<Changed> pin_now(front::Service& service, LayerCall call) {
  return service.pin(std::move(call.model), std::move(call.layer), call.bytes);
}
Task<Changed> unpin_now(front::Service& service, LayerCall call) {
  return service.unpin(std::move(call.model), std::move(call.layer));
}

Task<void> change_level(Call call, Parse parse, Change change) {
  auto request = parse(call.request().body);
  if (!request) {
    co_await refuse(std::move(call), std::move(request).error());
    co_return;
  }
  const auto model = co_await change(call.service, std::move(*request));
  http::HttpResponse response = model_answer(call, model);
  (void)co_await call.exchange.respond(std::move(response));
}

Task<void> warm_layer(Call call, WarmCall warm) {
  const auto model =
      co_await call.service.warm(std::move(warm.options.model), std::move(warm.layer));
  http::HttpResponse response = model_answer(call, model);
  (void)co_await call.exchange.respond(std::move(response));
}

std::string preview_json(const front::CoolPreview& preview, Audience audience) {
  JsonWriter out;
  out.string("model", preview.model).string("source", shown_source(preview.source, audience));
  out.integer("freed_bytes", preview.freed_bytes).integer("fetch_bytes", preview.fetch_bytes);
  out.raw("also", json_strings(preview.also));
  if (audience == Audience::kAdmin) out.raw("files", json_strings(preview.files));
  return JsonWriter{}.raw("preview", out.object()).object();
}

Task<void> preview_cool(Call call, std::string model, std::string layer) {
  const auto preview = co_await call.service.preview_cool(std::move(model), std::move(layer));
  const Audience audience = audience_of(call);
  auto response = preview ? http::HttpResponse::json(200, preview_json(*preview, audience))
                          : error_response(call.dialect, audience, preview.error());
  (void)co_await call.exchange.respond(std::move(response));
}

}  // namespace

Task<void> load(Call call) {
  auto request = parse_load(call.request().body);
  if (!request) return refuse(std::move(call), std::move(request).error());
  return load_weights(std::move(call), std::move(request->options));
}

Task<void> warm(Call call) {
  auto request = parse_warm(call.request().body);
  if (!request) return refuse(std::move(call), std::move(request).error());
  if (request->layer != "weights") return warm_layer(std::move(call), std::move(*request));
  return load_weights(std::move(call), std::move(request->options));
}

Task<void> unload(Call call) { return change_level(std::move(call), parse_unload, unload_now); }
Task<void> cool(Call call) {
  const auto request = parse_cool(call.request().body);
  if (request && request->preview) {
    return preview_cool(std::move(call), request->model, request->layer);
  }
  if (request && request->chooses_prefixes()) return cool_prefixes(std::move(call), *request);
  return change_level(std::move(call), parse_cool, cool_now);
}
Task<void> pin(Call call) { return change_level(std::move(call), parse_pin, pin_now); }
Task<void> unpin(Call call) { return change_level(std::move(call), parse_unpin, unpin_now); }

}  // namespace hearth::api::admin
