// SPDX-License-Identifier: Apache-2.0
#include "api/generation.h"
#include "api/openai/openai.h"
#include "api/openai/rerank_request.h"
#include "api/read_body.h"

namespace hearth::api::openai {

// Here a reranker's scores will be asked of the front, once its workers can load models whose head
// ranks a pair of texts. Vectors of a chat model would give scores, too, and not those that such a
// model was trained for.
Task<void> rerank(Call call) {
  const auto request = read_body(call.request().body, parse_rerank);
  if (!request) {
    co_await refuse(std::move(call), request.error());
    co_return;
  }
  const auto model = call.service.model(request->options.model);
  if (!model) {
    co_await refuse(std::move(call), model.error());
    co_return;
  }
  Error error{ErrorCode::kUnsupported,
              model->name + " is no reranking model, and such models cannot be loaded yet"};
  co_await refuse(std::move(call), std::move(error).at("model"));
}

}  // namespace hearth::api::openai
