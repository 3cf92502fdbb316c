// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "api/generation.h"
#include "api/lm_studio/lm_studio.h"
#include "api/lm_studio/model_json.h"
#include "api/lm_studio/requests.h"
#include "api/read_body.h"
#include "timeline/json_writer.h"

namespace hearth::api::lm_studio {
namespace {

Task<void> respond(Call call, std::string body) {
  auto response = http::HttpResponse::json(200, std::move(body));
  (void)co_await call.exchange.respond(std::move(response));
}

// How long a context is stands in the configuration; who asks for that one may ask.
Result<> check_context(const Call& call, const LoadCall& wanted) {
  const auto model = call.service.model(wanted.options.model);
  if (!model) return Failed{model.error()};
  const int context = context_of(*model);
  if (wanted.context == 0 || wanted.context == context) return {};
  return Failed{
      Error{ErrorCode::kInvalid,
            fmt::format("context_length: this model is loaded with {}; the option `context` of "
                        "the configuration says so",
                        context)}
          .at("context_length")};
}

std::string loaded_json(const front::ModelStatus& model, const LoadCall& wanted, Duration took) {
  JsonWriter out;
  out.string("type", type_of(model)).string("instance_id", model.name);
  out.number("load_time_seconds", milliseconds_of(took) / 1000).string("status", "loaded");
  if (wanted.echo) out.raw("load_config", config_json(model));
  return out.object();
}

Task<void> load_now(Call call, LoadCall wanted) {
  const TimePoint begun = call.options.clock->now();
  front::LoadRequest request{context_of(call, wanted.options)};
  const auto reply = call.service.load(std::move(request));
  Collected nothing;
  front::Event event = co_await collect(*reply, nothing);
  if (auto* refused = std::get_if<front::Refused>(&event)) {
    co_await send_refusal(call, *reply, std::move(*refused));
    co_return;
  }
  const auto model = call.service.model(wanted.options.model);
  if (!model) {  // removed meanwhile
    front::Refused gone{model.error(), {}, {}, {}};
    co_await send_refusal(call, *reply, std::move(gone));
    co_return;
  }
  auto response =
      http::HttpResponse::json(200, loaded_json(*model, wanted, call.options.clock->now() - begun));
  add_headers(response.headers, call, *reply, std::get<front::Finished>(event).report);
  (void)co_await call.exchange.respond(std::move(response));
  reply->sent(200);
}

}  // namespace

Task<void> list_models(Call call) {
  std::string list = "[";
  for (const front::ModelStatus& model : call.service.models()) {
    if (list.size() > 1) list += ',';
    list += entry_json(model);
  }
  list += ']';
  std::string body = JsonWriter{}.raw("models", list).object();
  co_await respond(std::move(call), std::move(body));
}

Task<void> load(Call call) {
  auto wanted = read_body(call.request().body, parse_load);
  const Result<> possible = wanted ? check_context(call, *wanted) : Failed{wanted.error()};
  if (!possible) {
    co_await refuse(std::move(call), possible.error());
    co_return;
  }
  co_await load_now(std::move(call), std::move(*wanted));
}

Task<void> unload(Call call) {
  const auto id = read_body(call.request().body, parse_unload);
  if (!id) {
    co_await refuse(std::move(call), id.error());
    co_return;
  }
  const auto model = co_await call.service.unload(*id);
  if (!model) {
    co_await refuse(std::move(call), model.error());
    co_return;
  }
  std::string body = JsonWriter{}.string("instance_id", model->name).object();
  co_await respond(std::move(call), std::move(body));
}

}  // namespace hearth::api::lm_studio
