// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "api/client_watch.h"
#include "api/errors.h"
#include "api/generation.h"
#include "api/implied_model.h"
#include "api/llama_server/llama_server.h"
#include "api/llama_server/props_json.h"
#include "api/llama_server/requests.h"
#include "api/read_body.h"
#include "timeline/json_writer.h"

namespace hearth::api::llama_server {
namespace {

std::string tokens_json(const std::vector<int>& tokens) {
  return JsonWriter{}.raw("tokens", fmt::format("[{}]", fmt::join(tokens, ","))).object();
}

Task<void> respond(Call call, std::string body) {
  auto response = http::HttpResponse::json(200, std::move(body));
  (void)co_await call.exchange.respond(std::move(response));
}

front::GenerateRequest counting(const Call& call, std::string model, TokenizeCall wanted) {
  RequestOptions options;
  options.model = std::move(model);
  front::GenerateRequest request{context_of(call, options), {}};
  request.message.prompt = std::move(wanted.content);
  request.message.add_special = wanted.add_special;
  request.message.count_only = true;
  request.message.return_tokens = true;
  return request;
}

Task<void> tokenize_with(Call call, std::string model, TokenizeCall wanted) {
  front::GenerateRequest request = counting(call, std::move(model), std::move(wanted));
  const auto reply = call.service.generate(std::move(request), front::Delivery::kWhole);
  const ClientWatch watch{call.exchange, *reply};
  Collected nothing;
  front::Event event = co_await collect(*reply, nothing);
  if (auto* refused = std::get_if<front::Refused>(&event)) {
    co_await send_refusal(call, *reply, std::move(*refused));
    co_return;
  }
  const auto& finished = std::get<front::Finished>(event);
  auto response = http::HttpResponse::json(200, tokens_json(finished.tokens));
  add_headers(response.headers, call, *reply, finished.report);
  (void)co_await call.exchange.respond(std::move(response));
  reply->sent(200);
}

// Of the model that the query names, or else of the one it can mean.
Result<front::ModelStatus> asked_model(const Call& call) {
  const auto name = implied_model(call.service, call.request().parameter("model"));
  if (!name) return Failed{name.error()};
  return call.service.model(*name);
}

// They stand under one of the model's names only.
std::vector<Slot> slots_now(const Call& call, const front::ModelStatus& model) {
  const std::string view = call.service.prefix(front::PromptTexts::kWithheld);
  for (const front::ModelStatus& one : call.service.models()) {
    if (one.artifact != model.artifact) continue;
    std::vector<Slot> slots = slots_of(view, one.name);
    if (!slots.empty()) return slots;
  }
  return {};
}

}  // namespace

Task<void> tokenize(Call call) {
  auto wanted = read_body(call.request().body, parse_tokenize);
  if (!wanted) {
    co_await refuse(std::move(call), std::move(wanted).error());
    co_return;
  }
  auto model = implied_model(call.service, wanted->model);
  const auto known = model ? call.service.model(*model) : Failed{model.error()};
  if (!known) {
    co_await refuse(std::move(call), known.error());
    co_return;
  }
  if (wanted->content.empty() && !wanted->add_special) {
    std::string none = tokens_json({});
    co_await respond(std::move(call), std::move(none));
    co_return;
  }
  co_await tokenize_with(std::move(call), std::move(*model), std::move(*wanted));
}

Task<void> props(Call call) {
  const auto model = asked_model(call);
  if (!model) {
    co_await refuse(std::move(call), model.error());
    co_return;
  }
  const auto details = co_await call.service.details(model->name);
  if (!details) {
    co_await refuse(std::move(call), details.error());
    co_return;
  }
  const bool is_admin = call.caller.role == front::Role::kAdmin;
  const Audience audience = is_admin ? Audience::kAdmin : Audience::kClients;
  const std::size_t slots = slots_now(call, *model).size();
  co_await respond(std::move(call), props_json(*model, *details, slots, audience));
}

Task<void> slots(Call call) {
  const auto model = asked_model(call);
  if (!model) {
    co_await refuse(std::move(call), model.error());
    co_return;
  }
  const std::vector<Slot> now = slots_now(call, *model);
  co_await respond(std::move(call), slots_json(*model, now));
}

}  // namespace hearth::api::llama_server
