// SPDX-License-Identifier: Apache-2.0
#include "api/anthropic/anthropic.h"
#include "api/anthropic/requests.h"
#include "api/client_watch.h"
#include "api/errors.h"
#include "api/generation.h"
#include "api/read_body.h"
#include "timeline/json_writer.h"

namespace hearth::api::anthropic {
Task<void> messages(Call call) {
  auto request = read_body(call, parse_messages);
  if (!request) {
    co_await refuse(std::move(call), std::move(request).error());
    co_return;
  }
  MakeFormat format = [rules = std::move(request->rules)](ReplyIdentity identity) {
    return message_format(std::move(identity), rules);
  };
  co_await serve_generate(std::move(call), std::move(request->generate), std::move(format));
}

Task<void> count_tokens(Call call) {
  auto request = read_body(call, parse_count);
  if (!request) {
    co_await refuse(std::move(call), std::move(request).error());
    co_return;
  }
  GenerateCall& count = request->generate;
  front::GenerateRequest generate{context_of(call, count.options), std::move(count.message)};
  const auto reply = call.service.generate(std::move(generate), front::Delivery::kWhole);
  const ClientWatch watch{call.exchange, *reply};
  Collected nothing;
  front::Event event = co_await collect(*reply, nothing);
  if (auto* refused = std::get_if<front::Refused>(&event)) {
    co_await send_refusal(call, *reply, std::move(*refused));
    co_return;
  }
  const auto& finished = std::get<front::Finished>(event);
  auto response = http::HttpResponse::json(
      200, JsonWriter{}.integer("input_tokens", finished.prompt_tokens).object());
  add_headers(response.headers, call, *reply, finished.report);
  (void)co_await call.exchange.respond(std::move(response));
  reply->sent(200);
}

}  // namespace hearth::api::anthropic
