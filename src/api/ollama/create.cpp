// SPDX-License-Identifier: Apache-2.0
#include "api/generation.h"
#include "api/late_stream.h"
#include "api/ollama/idle.h"
#include "api/ollama/ollama.h"
#include "api/ollama/pull_format.h"
#include "api/ollama/reply_format.h"
#include "api/ollama/requests.h"
#include "api/read_body.h"

namespace hearth::api::ollama {
namespace {

// What there was to do, told when it is done: none of it takes long, and so what went wrong has a
// status of its own.
std::string lines_of(const CreateCall& request, const front::ModelStatus& model) {
  std::string out;
  const auto tell = [&out](std::string_view status) {
    out.append(status_json(status)).append("\n");
  };
  if (!request.create.files.empty()) tell("parsing GGUF");
  for (const auto& [name, digest] : request.create.files) tell("using existing layer " + digest);
  for (const auto& [name, digest] : request.create.adapters) tell("using existing layer " + digest);
  if (!request.create.from.empty() && !model.digest.empty()) {
    tell("using existing layer sha256:" + model.digest);
  }
  tell("writing manifest");
  tell("success");
  return out;
}

}  // namespace

Task<void> create_model(Call call) {
  auto request = read_body(call.request().body, parse_create);
  if (!request) {
    co_await refuse(std::move(call), std::move(request).error());
    co_return;
  }
  front::CreateRequest create = request->create;
  const auto model = co_await call.service.create_model(std::move(create));
  if (!model) {
    co_await refuse(std::move(call), model.error());
    co_return;
  }
  if (request->delivery == front::Delivery::kWhole) {
    http::HttpResponse response = json_response(status_json("success"));
    (void)co_await call.exchange.respond(std::move(response));
    co_return;
  }
  LateStream out{call.exchange};
  http::Headers headers{{"Content-Type", std::string{kNdjson}}, {"Cache-Control", "no-cache"}};
  out.set_headers(std::move(headers));
  std::string lines = lines_of(*request, *model);
  (void)co_await out.send(std::move(lines));
  co_await out.end();
}

}  // namespace hearth::api::ollama
