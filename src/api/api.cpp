// SPDX-License-Identifier: Apache-2.0
#include "api/api.h"

#include <array>
#include <exception>
#include <optional>

#include "api/access.h"
#include "api/admin/admin.h"
#include "api/errors.h"
#include "api/openai/openai.h"
#include "api/plain.h"
#include "api/tracked_exchange.h"
#include "base/log.h"

namespace hearth::api {
namespace {

constexpr std::array kRoutes{
    Route{"POST", "/v1/chat/completions", openai::chat_completions, Needs::kUse,
          "chat, whole or as a stream"},
    Route{"POST", "/v1/completions", openai::completions, Needs::kUse,
          "continue a prompt, given as text or token ids"},
    Route{"POST", "/v1/embeddings", openai::embeddings, Needs::kUse,
          "vectors for one or many texts"},
    Route{"GET", "/v1/models", openai::list_models, Needs::kAnyKey, "all models"},
    Route{"GET", "/v1/models/{rest}", openai::show_model, Needs::kAnyKey, "one model"},

    Route{"GET", "/api/hearth/models", admin::list_models, Needs::kAnyKey,
          "all models with their levels"},
    Route{"GET", "/api/hearth/models/{rest}", admin::show_model, Needs::kAnyKey,
          "one model with its levels"},
    Route{"DELETE", "/api/hearth/models/{rest}", admin::remove_model, Needs::kAdmin,
          "forget a name; the file stays"},
    Route{"POST", "/api/hearth/import", admin::import_model, Needs::kAdmin,
          "add a GGUF file, which stays where it is"},
    Route{"POST", "/api/hearth/load", admin::load, Needs::kUse, "load a model's weights"},
    Route{"POST", "/api/hearth/unload", admin::unload, Needs::kUse, "give a model's memory back"},
    Route{"POST", "/api/hearth/warm", admin::warm, Needs::kUse, "warm one layer of a model"},
    Route{"POST", "/api/hearth/cool", admin::cool, Needs::kAdmin, "cool one layer of a model"},
    Route{"GET", "/api/hearth/requests", admin::list_requests, Needs::kWatch,
          "history, newest first"},
    Route{"GET", "/api/hearth/requests/{id}", admin::show_request, Needs::kWatch,
          "where one request's time went; `last`: the newest"},
    Route{"GET", "/api/hearth/events", admin::events, Needs::kWatch, "live events (SSE)"},
    Route{"GET", "/api/hearth/version", admin::version, Needs::kAnyKey,
          "version, engine, uptime, memory, layers that are on"},

    Route{"GET", "/health", health, Needs::kNothing, "is the server up"},
    Route{"GET", "/metrics", metrics, Needs::kWatch, "metrics as Prometheus reads them"},
    Route{"GET", "/", root, Needs::kNothing, "says that the server is running"},
};

Task<void> refuse(http::Exchange& exchange, http::HttpResponse response) {
  (void)co_await exchange.respond(std::move(response));
}

http::HttpResponse unmatched(Dialect dialect, const http::HttpRequest& request,
                             const Match& match) {
  const auto* wrong = std::get_if<WrongMethod>(&match);
  if (wrong == nullptr) return route_error(dialect, 404, "there is nothing at this path");
  auto response = route_error(dialect, 405, request.method + " is not possible here");
  response.headers.push_back({"Allow", wrong->allowed});
  return response;
}

Task<void> dispatch(front::Service& service, http::Exchange& exchange, const ApiOptions& options) {
  const http::HttpRequest& request = exchange.request();
  const Dialect dialect = dialect_of(request);
  if (auto refusal = refusal_of(request, service.access().hosts)) {
    co_await refuse(exchange, route_error(dialect, 403, *refusal));
    co_return;
  }
  Match match = Router{kRoutes}.match(request.method, request.path);
  if (auto* found = std::get_if<Found>(&match)) {
    Call call{service, exchange, options, dialect, Caller{}, std::move(found->argument)};
    co_await found->handler(std::move(call));
    co_return;
  }
  co_await refuse(exchange, unmatched(dialect, request, match));
}

}  // namespace

std::span<const Route> routes() { return kRoutes; }

Task<void> handle(front::Service& service, http::Exchange& exchange, const ApiOptions& options) {
  TrackedExchange tracked{exchange};
  std::optional<std::string> failure;
  try {
    co_await dispatch(service, tracked, options);
  } catch (const std::exception& e) {
    failure = e.what();
  }
  if (!failure) co_return;
  const http::HttpRequest& request = exchange.request();
  log::error("api_exception", {{"path", request.path}, {"error", *failure}});
  if (tracked.begun()) co_return;
  auto response = error_response(dialect_of(request), Audience::kClients,
                                 Error{ErrorCode::kInternal, "something went wrong in the server"});
  co_await refuse(exchange, std::move(response));
}

http::HttpResponse http_error(int status, std::string_view message, const http::HttpRequest* head) {
  return route_error(head == nullptr ? Dialect::kOpenAi : dialect_of(*head), status, message);
}

Task<void> handle(front::Service& service, http::Exchange& exchange) {
  static const ApiOptions kDefaults;
  return handle(service, exchange, kDefaults);
}

}  // namespace hearth::api
