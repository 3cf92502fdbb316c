// SPDX-License-Identifier: Apache-2.0
//
// What memory there is, who holds it, and what goes down or up for whom.
#include <utility>

#include "api/admin/admin.h"

namespace hearth::api::admin {

Task<void> show_memory(Call call) {
  auto response = http::HttpResponse::json(200, call.service.memory());
  (void)co_await call.exchange.respond(std::move(response));
}

Task<void> show_moves(Call call) {
  auto response = http::HttpResponse::json(200, call.service.moves());
  (void)co_await call.exchange.respond(std::move(response));
}

Task<void> show_levels(Call call) {
  auto response = http::HttpResponse::json(200, call.service.levels());
  (void)co_await call.exchange.respond(std::move(response));
}

}  // namespace hearth::api::admin
