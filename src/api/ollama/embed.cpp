// SPDX-License-Identifier: Apache-2.0
//
// /api/embed and /api/embeddings.
#include <functional>

#include "api/client_watch.h"
#include "api/collect_embedding.h"
#include "api/generation.h"
#include "api/ollama/idle.h"
#include "api/ollama/ollama.h"
#include "api/ollama/requests.h"
#include "api/ollama/vectors.h"
#include "api/read_body.h"
#include "api/reply_headers.h"
#include "api/shorten.h"

namespace hearth::api::ollama {
namespace {

using Vectors = std::vector<std::vector<float>>;
using MakeBody = std::function<std::string(const Vectors&, const front::Finished&)>;

Task<void> answer(Call call, EmbedCall request, MakeBody body) {
  front::EmbedRequest embed{context_of(call, request.options), std::move(request.message)};
  const auto reply = call.service.embed(std::move(embed));
  const ClientWatch watch{call.exchange, *reply};
  front::Embedded embedded;
  front::Event event = co_await collect_embedding(*reply, embedded);
  if (auto* refused = std::get_if<front::Refused>(&event)) {
    co_await send_refusal(call, *reply, std::move(*refused));
    co_return;
  }
  const auto& finished = std::get<front::Finished>(event);
  if (request.dimensions > 0) {
    const auto size = static_cast<std::size_t>(request.dimensions);
    for (std::vector<float>& vector : embedded.vectors) shorten(vector, size);
  }
  auto response = json_response(body(embedded.vectors, finished));
  add_report_headers(response.headers, reply->id(), finished.report);
  (void)co_await call.exchange.respond(std::move(response));
  reply->sent(200);
}

Task<void> serve(Call call, EmbedCall request, MakeBody body) {
  if (request.purpose == Purpose::kAnswer) {
    co_await answer(std::move(call), std::move(request), std::move(body));
    co_return;
  }
  IdleCall idle{std::move(request.options), request.purpose, {}, {}};
  idle.body = [body](std::string_view, const RequestReport& report) {
    front::Finished end;
    end.report = report;
    return body({}, end);
  };
  co_await serve_idle(std::move(call), std::move(idle));
}

}  // namespace

Task<void> embed(Call call) {
  auto request = read_body(call.request().body, parse_embed);
  if (!request) {
    co_await refuse(std::move(call), std::move(request).error());
    co_return;
  }
  MakeBody body = [model = request->options.model](const Vectors& vectors,
                                                   const front::Finished& end) {
    return embed_json(model, vectors, end);
  };
  co_await serve(std::move(call), std::move(*request), std::move(body));
}

Task<void> embeddings(Call call) {
  auto request = read_body(call.request().body, parse_embeddings);
  if (!request) {
    co_await refuse(std::move(call), std::move(request).error());
    co_return;
  }
  MakeBody body = [](const Vectors& vectors, const front::Finished& end) {
    return embeddings_json(vectors, end.report);
  };
  co_await serve(std::move(call), std::move(*request), std::move(body));
}

}  // namespace hearth::api::ollama
