// SPDX-License-Identifier: Apache-2.0
#include "api/admin/admin.h"
#include "api/admin/answer.h"
#include "api/create_request.h"
#include "api/generation.h"
#include "api/read_body.h"

namespace hearth::api::admin {
namespace {

Result<front::CreateRequest> parse_create(const boost::json::object& object) {
  Fields::FirstError error;
  front::CreateRequest request = read_create(Fields{object, "", error}, Paths::kAllowed);
  if (error) return Failed{std::move(*error)};
  return request;
}

}  // namespace

Task<void> create_model(Call call) {
  auto request = read_body(call.request().body, parse_create);
  if (!request) {
    co_await refuse(std::move(call), std::move(request).error());
    co_return;
  }
  const auto model = co_await call.service.create_model(std::move(*request));
  http::HttpResponse response = model_answer(call, model);
  (void)co_await call.exchange.respond(std::move(response));
}

}  // namespace hearth::api::admin
