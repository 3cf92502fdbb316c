// SPDX-License-Identifier: Apache-2.0
#include "api/admin/admin.h"

namespace hearth::api::admin {

Task<void> show_prefix(Call call) {
  auto response = http::HttpResponse::json(200, call.service.prefix());
  (void)co_await call.exchange.respond(std::move(response));
}

Task<void> show_doctor(Call call) {
  auto response = http::HttpResponse::json(200, call.service.doctor());
  (void)co_await call.exchange.respond(std::move(response));
}

}  // namespace hearth::api::admin
