// SPDX-License-Identifier: Apache-2.0
#include "api/api.h"

#include <algorithm>
#include <array>
#include <exception>
#include <iterator>
#include <optional>
#include <utility>
#include <variant>

#include "api/access.h"
#include "api/admin/admin.h"
#include "api/anthropic/anthropic.h"
#include "api/authentication.h"
#include "api/cors.h"
#include "api/errors.h"
#include "api/http_count.h"
#include "api/llama_server/llama_server.h"
#include "api/lm_studio/lm_studio.h"
#include "api/ollama/ollama.h"
#include "api/openai/openai.h"
#include "api/plain.h"
#include "api/responses/responses.h"
#include "api/tracked_exchange.h"
#include "api/web/web.h"
#include "base/log.h"
#include "timeline/metrics.h"

namespace hearth::api {
namespace {

constexpr std::array kRoutes{
    Route{"POST", "/v1/chat/completions", openai::chat_completions, Needs::kUse,
          "chat, whole or as a stream"},
    Route{"POST", "/v1/completions", openai::completions, Needs::kUse,
          "continue a prompt, given as text or token ids"},
    Route{"POST", "/v1/embeddings", openai::embeddings, Needs::kUse,
          "vectors for one or many texts"},
    Route{"POST", "/v1/responses", responses::create, Needs::kUse,
          "answer as OpenAI's newer API does, whole or as a stream"},
    Route{"POST", "/v1/responses/input_tokens", responses::count, Needs::kUse,
          "the tokens that a response's input would have; loads nothing"},
    Route{"GET", "/v1/responses/{id}", responses::show, Needs::kUse, "one that was kept"},
    Route{"DELETE", "/v1/responses/{id}", responses::remove, Needs::kUse, "forget it"},
    Route{"GET", "/v1/responses/{id}/input_items", responses::list_input, Needs::kUse,
          "what it was asked"},
    Route{"POST", "/v1/rerank", openai::rerank, Needs::kUse,
          "refused: reranking models cannot be loaded yet"},
    Route{"GET", "/v1/models", openai::list_models, Needs::kAnyKey, "all models"},
    Route{"GET", "/v1/models/{rest}", openai::show_model, Needs::kAnyKey, "one model"},

    Route{"POST", "/api/chat", ollama::chat, Needs::kUse, "chat, as a stream of lines or whole"},
    Route{"POST", "/api/generate", ollama::generate, Needs::kUse,
          "answer a prompt; without one, load or unload the model"},
    Route{"POST", "/api/embed", ollama::embed, Needs::kUse, "vectors for one or many texts"},
    Route{"POST", "/api/embeddings", ollama::embeddings, Needs::kUse,
          "the vector of one text, in the older form"},
    Route{"GET", "/api/tags", ollama::list_models, Needs::kAnyKey, "all models"},
    Route{"GET", "/api/ps", ollama::list_running, Needs::kAnyKey,
          "models in memory, and until when"},
    Route{"POST", "/api/show", ollama::show_model, Needs::kAnyKey,
          "what a model's file says about itself"},
    Route{"POST", "/api/copy", ollama::copy_model, Needs::kAdmin, "give a model a second name"},
    Route{"DELETE", "/api/delete", ollama::delete_model, Needs::kAdmin,
          "forget a name; a pulled file goes with its last name"},
    Route{"POST", "/api/pull", ollama::pull, Needs::kAdmin, "fetch a model"},
    Route{"POST", "/api/push", ollama::push, Needs::kAdmin,
          "refused: models are not uploaded anywhere"},
    Route{"POST", "/api/create", ollama::create_model, Needs::kAdmin,
          "make a model of another one, or of blobs"},
    Route{"HEAD", "/api/blobs/{id}", ollama::show_blob, Needs::kAdmin, "is this blob here"},
    Route{"POST", "/api/blobs/{id}", ollama::add_blob, Needs::kAdmin,
          "send a blob, of any length, under its digest", http::BodyDelivery::kStreamed},
    Route{"GET", "/api/version", ollama::version, Needs::kNothing,
          "the Ollama release whose API is followed, and ours"},

    Route{"POST", "/v1/messages", anthropic::messages, Needs::kUse,
          "chat as Anthropic's clients do, whole or as a stream"},
    Route{"POST", "/v1/messages/count_tokens", anthropic::count_tokens, Needs::kUse,
          "the tokens that a message would have; loads nothing"},

    Route{"GET", "/api/v1/models", lm_studio::list_models, Needs::kAnyKey,
          "all models, as LM Studio lists them"},
    Route{"POST", "/api/v1/models/load", lm_studio::load, Needs::kUse, "load a model's weights"},
    Route{"POST", "/api/v1/models/unload", lm_studio::unload, Needs::kUse,
          "give a model's memory back"},

    Route{"POST", "/tokenize", llama_server::tokenize, Needs::kUse,
          "a text's tokens; loads nothing"},
    Route{"GET", "/props", llama_server::props, Needs::kAnyKey,
          "a model's defaults and template, as llama-server tells them"},
    Route{"GET", "/slots", llama_server::slots, Needs::kWatch, "the sequences of a loaded model"},

    Route{"GET", "/api/hearth/models", admin::list_models, Needs::kAnyKey,
          "all models with their levels"},
    Route{"GET", "/api/hearth/models/{rest}", admin::show_model, Needs::kAnyKey,
          "one model with its levels"},
    Route{"DELETE", "/api/hearth/models/{rest}", admin::remove_model, Needs::kAdmin,
          "forget a name; a pulled file goes with its last name"},
    Route{"POST", "/api/hearth/import", admin::import_model, Needs::kAdmin,
          "add a GGUF file, which stays where it is"},
    Route{"GET", "/api/hearth/details/{rest}", admin::show_details, Needs::kAnyKey,
          "what a model's file says, and what a load will need"},
    Route{"POST", "/api/hearth/pull", admin::pull, Needs::kAdmin, "fetch a model"},
    Route{"GET", "/api/hearth/pulls", admin::list_pulls, Needs::kWatch,
          "pulls under way, and those of which parts are kept"},
    Route{"POST", "/api/hearth/pulls/stop", admin::stop_pull, Needs::kAdmin,
          "stop a pull for all who wait for it"},
    Route{"POST", "/api/hearth/verify", admin::verify, Needs::kAdmin,
          "read models' files and compare them with their digests"},
    Route{"POST", "/api/hearth/prune", admin::prune, Needs::kAdmin,
          "show or delete what nothing needs any more"},
    Route{"POST", "/api/hearth/create", admin::create_model, Needs::kAdmin,
          "make a model of another one, a file, or blobs"},
    Route{"POST", "/api/hearth/rescan", admin::rescan, Needs::kAdmin,
          "look for models in other stores and watched folders"},
    Route{"POST", "/api/hearth/load", admin::load, Needs::kUse, "load a model's weights"},
    Route{"POST", "/api/hearth/unload", admin::unload, Needs::kUse, "give a model's memory back"},
    Route{"POST", "/api/hearth/warm", admin::warm, Needs::kUse, "warm one layer of a model"},
    Route{"POST", "/api/hearth/cool", admin::cool, Needs::kAdmin, "cool one layer of a model"},
    Route{"POST", "/api/hearth/pin", admin::pin, Needs::kAdmin,
          "keep a layer of a model, over restarts too"},
    Route{"POST", "/api/hearth/unpin", admin::unpin, Needs::kAdmin, "let go of what was pinned"},
    Route{"GET", "/api/hearth/prefix", admin::show_prefix, Needs::kWatch,
          "what is kept of prompts, and where"},
    Route{"GET", "/api/hearth/doctor", admin::show_doctor, Needs::kWatch,
          "what is worth a change, with its remedy"},
    Route{"GET", "/api/hearth/memory", admin::show_memory, Needs::kWatch,
          "what memory there is, and who holds it"},
    Route{"GET", "/api/hearth/moves", admin::show_moves, Needs::kWatch,
          "which layers went a level down or up, and why"},
    Route{"GET", "/api/hearth/levels", admin::show_levels, Needs::kWatch,
          "services that come first, prewarming, and which models stay warm"},
    Route{"GET", "/api/hearth/modules", admin::list_modules, Needs::kWatch,
          "named beginnings of prompts, and how warm they are"},
    Route{"GET", "/api/hearth/modules/{id}", admin::show_module, Needs::kWatch,
          "one of them, with its text"},
    Route{"PUT", "/api/hearth/modules/{id}", admin::set_module, Needs::kAdmin,
          "make a module, or change it"},
    Route{"DELETE", "/api/hearth/modules/{id}", admin::remove_module, Needs::kAdmin,
          "forget a module"},
    Route{"GET", "/api/hearth/reports", admin::list_reports, Needs::kWatch,
          "the lab's reports in this server's data directory"},
    Route{"GET", "/api/hearth/reports/{id}", admin::show_report, Needs::kWatch,
          "one of them as a page, or its figures"},
    Route{"GET", "/api/hearth/requests", admin::list_requests, Needs::kWatch,
          "history, newest first"},
    Route{"GET", "/api/hearth/requests/{id}", admin::show_request, Needs::kWatch,
          "where one request's time went; `last`: the newest"},
    Route{"GET", "/api/hearth/running", admin::list_running, Needs::kWatch,
          "requests under way, with their stages so far"},
    Route{"GET", "/api/hearth/events", admin::events, Needs::kWatch, "live events (SSE)"},
    Route{"GET", "/api/hearth/config", admin::show_config, Needs::kAdmin,
          "every option, and where its value comes from"},
    Route{"POST", "/api/hearth/config/reload", admin::reload_config, Needs::kAdmin,
          "read the configuration again"},
    Route{"GET", "/api/hearth/keys", admin::list_keys, Needs::kAdmin,
          "keys, without their secrets"},
    Route{"POST", "/api/hearth/keys", admin::add_key, Needs::kAdmin,
          "make a key; its secret is told once"},
    Route{"DELETE", "/api/hearth/keys/{id}", admin::remove_key, Needs::kAdmin,
          "take a key back, by id or name"},
    Route{"GET", "/api/hearth/version", admin::version, Needs::kAnyKey,
          "version, engine, uptime, memory, layers that are on"},

    Route{"GET", "/health", health, Needs::kNothing, "is the server up"},
    Route{"GET", "/v1/health", health, Needs::kNothing, "the same"},
    Route{"GET", "/metrics", metrics, Needs::kWatch, "metrics as Prometheus reads them"},
    Route{"GET", "/", root, Needs::kNothing,
          "the dashboard for browsers; to others, says that the server is running"},
    Route{"GET", "/ui/{rest}", web::file, Needs::kNothing, "the dashboard's files"},
};

Task<void> answer(http::Exchange& exchange, http::HttpResponse response) {
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

// Names the route and not the path, where somebody may have put a key by mistake.
void count_rejection(front::Service& service, const http::HttpRequest& request, const Route& route,
                     const Rejection& rejection) {
  service.metrics().auth_failed(rejection.reason);
  log::warn("auth.failed", {{"reason", rejection.reason},
                            {"peer", request.peer},
                            {"method", route.method},
                            {"route", route.pattern},
                            {"key", rejection.key}});
}

// Who may call which route.
struct Admitted {
  const Route* route;
  std::string argument;
  Caller caller;
};

std::variant<Admitted, http::HttpResponse> route_of(front::Service& service,
                                                    const http::HttpRequest& head) {
  const Dialect dialect = dialect_of(head);
  Match match = Router{kRoutes}.match(head.method, head.path);
  auto* found = std::get_if<Found>(&match);
  if (found == nullptr) return unmatched(dialect, head, match);
  auto identity = authenticate(head, service.keys(), found->route->needs);
  if (const auto* rejection = std::get_if<Rejection>(&identity)) {
    count_rejection(service, head, *found->route, *rejection);
    return rejection_response(dialect, *rejection);
  }
  return Admitted{found->route, std::move(found->argument), std::get<Caller>(std::move(identity))};
}

// All that is decided without the body.
std::variant<Admitted, http::HttpResponse> look_at(front::Service& service, const Arrival& arrival,
                                                   const http::HttpRequest& head) {
  if (arrival.refusal) return route_error(dialect_of(head), 403, *arrival.refusal);
  if (is_preflight(head)) return preflight_answer(head);
  return route_of(service, head);
}

Task<void> dispatch(front::Service& service, TrackedExchange& exchange, const ApiOptions& options) {
  const http::HttpRequest& request = exchange.request();
  const Arrival arrival = arrival_of(request, service.access());
  exchange.add_headers(cors_headers(arrival.origin));
  auto outcome = look_at(service, arrival, request);
  if (auto* response = std::get_if<http::HttpResponse>(&outcome)) {
    co_await answer(exchange, std::move(*response));
    co_return;
  }
  auto& admitted = std::get<Admitted>(outcome);
  Call call{service,
            exchange,
            options,
            dialect_of(request),
            std::move(admitted.caller),
            std::move(admitted.argument)};
  co_await admitted.route->handler(std::move(call));
}

void append(http::Headers& headers, http::Headers more) {
  std::ranges::move(more, std::back_inserter(headers));
}

// The option that sets the limit which a refusal of the HTTP server speaks of; empty: none.
std::string_view limit_behind(int status) {
  if (status == 413) return "max_body_mib";
  return status == 414 || status == 431 ? "max_header_kib" : "";
}

// The status of clients that left before any answer.
constexpr int kClientLeft = 499;

// With an error where the route has none.
Task<void> answer_somehow(front::Service& service, TrackedExchange& tracked,
                          const ApiOptions& options) {
  std::optional<std::string> failure;
  try {
    co_await dispatch(service, tracked, options);
  } catch (const std::exception& e) {
    failure = e.what();
  }
  if (!failure) co_return;
  const http::HttpRequest& request = tracked.request();
  log::error("api_exception", {{"path", request.path}, {"error", *failure}});
  if (tracked.begun()) co_return;
  auto response = error_response(dialect_of(request), Audience::kClients,
                                 Error{ErrorCode::kInternal, "something went wrong in the server"});
  co_await answer(tracked, std::move(response));
}

}  // namespace

std::span<const Route> routes() { return kRoutes; }

Task<void> handle(front::Service& service, http::Exchange& exchange, const ApiOptions& options) {
  TrackedExchange tracked{exchange};
  co_await answer_somehow(service, tracked, options);
  // Where there is no answer the HTTP server makes one, and refused() counts it.
  if (!tracked.begun() && !exchange.client_gone()) co_return;
  const int status = tracked.begun() ? tracked.status() : kClientLeft;
  count_answer(service, &exchange.request(), status, options.clock->now());
}

std::optional<http::HttpResponse> answer_to_head(front::Service& service,
                                                 const http::HttpRequest& head) {
  const Arrival arrival = arrival_of(head, service.access());
  auto outcome = look_at(service, arrival, head);
  auto* response = std::get_if<http::HttpResponse>(&outcome);
  if (response == nullptr) return std::nullopt;
  append(response->headers, cors_headers(arrival.origin));
  count_answer(service, &head, response->status, Clock::real().now());
  return std::move(*response);
}

http::BodyDelivery body_delivery(const http::HttpRequest& head) {
  const Match match = Router{kRoutes}.match(head.method, head.path);
  const auto* found = std::get_if<Found>(&match);
  return found == nullptr ? http::BodyDelivery::kWhole : found->route->body;
}

http::HttpResponse http_error(const front::AccessRules& rules, int status, std::string_view message,
                              const http::HttpRequest* head) {
  std::string text{message};
  const std::string_view limit = limit_behind(status);
  if (!limit.empty()) text += " The option `" + std::string{limit} + "` sets this limit.";
  auto response = route_error(head == nullptr ? Dialect::kOpenAi : dialect_of(*head), status, text);
  const std::string origin = head == nullptr ? "" : arrival_of(*head, rules).origin;
  append(response.headers, cors_headers(origin));
  return response;
}

http::HttpResponse refused(front::Service& service, int status, std::string_view message,
                           const http::HttpRequest* head) {
  count_answer(service, head, status, Clock::real().now());
  return http_error(service.access(), status, message, head);
}

Task<void> handle(front::Service& service, http::Exchange& exchange) {
  static const ApiOptions kDefaults;
  return handle(service, exchange, kDefaults);
}

}  // namespace hearth::api
