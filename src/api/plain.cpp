// SPDX-License-Identifier: Apache-2.0
#include "api/plain.h"

#include "api/web/web.h"
#include "timeline/metrics.h"

namespace hearth::api {

Task<void> root(Call call) {
  auto response = web::wants_page(call.request())
                      ? web::file_answer(call.request(), "index.html")
                      : http::HttpResponse::text(200, "Hearth is running");
  (void)co_await call.exchange.respond(std::move(response));
}

Task<void> health(Call call) {
  auto response = http::HttpResponse::json(200, R"({"status":"ok"})");
  (void)co_await call.exchange.respond(std::move(response));
}

Task<void> metrics(Call call) {
  http::HttpResponse response;
  response.headers.push_back({"Content-Type", "text/plain; version=0.0.4; charset=utf-8"});
  response.body = call.service.metrics().text();
  (void)co_await call.exchange.respond(std::move(response));
}

}  // namespace hearth::api
