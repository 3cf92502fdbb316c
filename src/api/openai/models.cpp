// SPDX-License-Identifier: Apache-2.0
#include "api/errors.h"
#include "api/json_text.h"
#include "api/model_json.h"
#include "api/openai/generate.h"
#include "api/openai/openai.h"

namespace hearth::api::openai {
namespace {

std::string entry(const front::ModelStatus& model) {
  JsonObject out;
  out.text("id", model.name).text("object", "model");
  out.integer("created", model.imported_at_us / 1'000'000).text("owned_by", "hearth");
  return out.raw("hearth", model_json(model, Audience::kClients)).take();
}

}  // namespace

Task<void> list_models(Call call) {
  std::string data = "[";
  for (const front::ModelStatus& model : call.service.models()) {
    if (data.size() > 1) data += ',';
    data += entry(model);
  }
  data += ']';
  auto response =
      http::HttpResponse::json(200, JsonObject{}.text("object", "list").raw("data", data).take());
  (void)co_await call.exchange.respond(std::move(response));
}

Task<void> show_model(Call call) {
  auto model = call.service.model(call.argument);
  auto response = model ? http::HttpResponse::json(200, entry(*model))
                        : error_response(Dialect::kOpenAi, model.error());
  (void)co_await call.exchange.respond(std::move(response));
}

}  // namespace hearth::api::openai
