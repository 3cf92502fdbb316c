// SPDX-License-Identifier: Apache-2.0
#include "api/admin/admin.h"
#include "api/errors.h"

namespace hearth::api::admin {

Task<void> show_config(Call call) {
  auto response = http::HttpResponse::json(200, call.service.configuration());
  (void)co_await call.exchange.respond(std::move(response));
}

Task<void> reload_config(Call call) {
  const Result<std::string> reloaded = co_await call.service.reload_configuration();
  auto response = reloaded ? http::HttpResponse::json(200, *reloaded)
                           : error_response(Dialect::kHearth, Audience::kAdmin, reloaded.error());
  (void)co_await call.exchange.respond(std::move(response));
}

}  // namespace hearth::api::admin
