// SPDX-License-Identifier: Apache-2.0
#include "api/anthropic/models.h"

#include "api/errors.h"
#include "api/model_json.h"
#include "api/openai/openai.h"
#include "timeline/json_writer.h"

// Anthropic's clients ask for the models at the same paths.
namespace hearth::api::openai {
namespace {

std::string entry(const front::ModelStatus& model) {
  JsonWriter out;
  out.string("id", model.name).string("object", "model");
  out.integer("created", model.imported_at_us / 1'000'000).string("owned_by", "hearth");
  return out.raw("hearth", model_json(model, Audience::kClients)).object();
}

http::HttpResponse anthropic_page(const Call& call) {
  const std::vector<front::ModelStatus> models = call.service.models();
  const auto page = anthropic::model_page(models, call.request());
  return page ? http::HttpResponse::json(200, *page)
              : error_response(call.dialect, Audience::kClients, page.error());
}

}  // namespace

Task<void> list_models(Call call) {
  if (call.dialect == Dialect::kAnthropic) {
    http::HttpResponse page = anthropic_page(call);
    (void)co_await call.exchange.respond(std::move(page));
    co_return;
  }
  std::string data = "[";
  for (const front::ModelStatus& model : call.service.models()) {
    if (data.size() > 1) data += ',';
    data += entry(model);
  }
  data += ']';
  auto response = http::HttpResponse::json(
      200, JsonWriter{}.string("object", "list").raw("data", data).object());
  (void)co_await call.exchange.respond(std::move(response));
}

Task<void> show_model(Call call) {
  auto model = call.service.model(call.argument);
  const auto shape = call.dialect == Dialect::kAnthropic ? anthropic::model_entry : entry;
  auto response = model ? http::HttpResponse::json(200, shape(*model))
                        : error_response(call.dialect, Audience::kClients, model.error());
  (void)co_await call.exchange.respond(std::move(response));
}

}  // namespace hearth::api::openai
