// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "api/client_watch.h"
#include "api/collect_embedding.h"
#include "api/errors.h"
#include "api/generation.h"
#include "api/openai/embedding_reply.h"
#include "api/openai/openai.h"
#include "api/openai/requests.h"
#include "api/read_body.h"
#include "api/reply_headers.h"
#include "api/shorten.h"

namespace hearth::api::openai {
namespace {

// Shortening is only sound for models trained for it; who asks for it knows whether this one was.
Result<> check_dimensions(const Call& call, const EmbedCall& request) {
  if (request.dimensions == 0) return {};
  const auto status = call.service.model(request.options.model);
  if (!status || request.dimensions <= status->embedding_length) return {};
  return Failed{Error{ErrorCode::kInvalid,
                      fmt::format("dimensions: this model's vectors have no more than {}",
                                  status->embedding_length)}
                    .at("dimensions")};
}

Task<void> serve(Call call, EmbedCall request) {
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
  const ReplyIdentity identity = identity_of(call, *reply, request.options.model);
  const auto encoding = request.base64 ? VectorEncoding::kBase64 : VectorEncoding::kFloats;
  auto response = http::HttpResponse::json(
      200, embedding_json(identity.model, embedded.vectors, encoding, finished));
  add_report_headers(response.headers, reply->id(), finished.report);
  (void)co_await call.exchange.respond(std::move(response));
  reply->sent(200);
}

}  // namespace

Task<void> embeddings(Call call) {
  auto request = read_body(call.request().body, parse_embedding);
  if (!request) {
    co_await refuse(std::move(call), std::move(request).error());
    co_return;
  }
  if (auto checked = check_dimensions(call, *request); !checked) {
    co_await refuse(std::move(call), std::move(checked).error());
    co_return;
  }
  co_await serve(std::move(call), std::move(*request));
}

}  // namespace hearth::api::openai
