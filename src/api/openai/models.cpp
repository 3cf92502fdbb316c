// SPDX-License-Identifier: Apache-2.0
#include "api/errors.h"
#include "api/model_json.h"
#include "api/openai/openai.h"
#include "timeline/json_writer.h"

namespace hearth::api::openai {
namespace {

std::string entry(const front::ModelStatus& model) {
  JsonWriter out;
  out.string("id", model.name).string("object", "model");
  out.integer("created", model.imported_at_us / 1'000'000).string("owned_by", "hearth");
  return out.raw("hearth", model_json(model, Audience::kClients)).object();
}

}  // namespace

Task<void> list_models(Call call) {
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
  auto response = model ? http::HttpResponse::json(200, entry(*model))
                        : error_response(call.dialect, Audience::kClients, model.error());
  (void)co_await call.exchange.respond(std::move(response));
}

}  // namespace hearth::api::openai
