// SPDX-License-Identifier: Apache-2.0
//
// /api/pull and /api/push.
#include "api/generation.h"
#include "api/ollama/ollama.h"
#include "api/ollama/pull_format.h"
#include "api/ollama/requests.h"
#include "api/read_body.h"

namespace hearth::api::ollama {

Task<void> pull(Call call) {
  auto request = read_body(call.request().body, parse_pull);
  if (!request) return refuse(std::move(call), std::move(request).error());
  auto transfer = call.service.pull(std::move(request->pull));
  auto format = pull_format(call);
  return serve_transfer(std::move(call), std::move(transfer), std::move(format), request->options);
}

Task<void> push(Call call) {
  Error error{ErrorCode::kUnsupported,
              "models are not uploaded anywhere from here: this server only fetches them"};
  return refuse(std::move(call), std::move(error));
}

}  // namespace hearth::api::ollama
