// SPDX-License-Identifier: Apache-2.0
#include "api/errors.h"
#include "api/generation.h"
#include "api/ollama/idle.h"
#include "api/ollama/model_entry.h"
#include "api/ollama/ollama.h"
#include "api/ollama/requests.h"
#include "api/read_body.h"
#include "base/version.h"
#include "timeline/json_writer.h"

namespace hearth::api::ollama {
namespace {

Task<void> respond(Call call, http::HttpResponse response) {
  (void)co_await call.exchange.respond(std::move(response));
}

std::string list_json(const std::string& entries) {
  return JsonWriter{}.raw("models", "[" + entries + "]").object();
}

void append_entry(std::string& entries, const std::string& entry) {
  if (!entries.empty()) entries += ',';
  entries += entry;
}

// Where files lie is the business of those who run the server.
Audience audience_of_files(const Call& call) {
  return call.caller.role == front::Role::kAdmin ? Audience::kAdmin : Audience::kClients;
}

// Nothing but the status says that it is done, as in Ollama.
http::HttpResponse done_or(const Call& call, const Error* error) {
  if (error != nullptr) return error_response(call.dialect, audience_of(call), *error);
  return {};
}

// Clients look for "not found" in the message, as the front words it for a name.
const Error* unknown(const Result<front::ModelStatus>& model) {
  return model ? nullptr : &model.error();
}

Task<Result<std::string>> shown(Call call, std::string name) {
  const auto model = call.service.model(name);
  if (!model) co_return Failed{model.error()};
  auto details = co_await call.service.details(name);
  // Of a model whose file is not here the catalogue knows the facts, and what was set.
  const bool away = !details && details.error().code() == ErrorCode::kNotFound;
  if (away) details = front::ModelDetails{};
  if (!details) co_return Failed{details.error()};
  co_return show_json(*model, *details, audience_of_files(call));
}

}  // namespace

Task<void> list_models(Call call) {
  std::string entries;
  for (const front::ModelStatus& model : call.service.models()) {
    append_entry(entries, tags_entry(model));
  }
  co_await respond(call, json_response(list_json(entries)));
}

Task<void> list_running(Call call) {
  const std::int64_t now_us = call.options.clock->wall_us();
  std::string entries;
  for (const front::ModelStatus& model : call.service.models()) {
    if (is_running(model)) append_entry(entries, ps_entry(model, now_us));
  }
  co_await respond(call, json_response(list_json(entries)));
}

Task<void> show_model(Call call) {
  auto name = read_body(call.request().body, parse_model);
  if (!name) {
    co_await refuse(std::move(call), std::move(name).error());
    co_return;
  }
  auto json = co_await shown(call, std::move(*name));
  if (!json) {
    co_await refuse(std::move(call), std::move(json).error());
    co_return;
  }
  co_await respond(call, json_response(std::move(*json)));
}

Task<void> copy_model(Call call) {
  auto request = read_body(call.request().body, parse_copy);
  if (!request) {
    co_await refuse(std::move(call), std::move(request).error());
    co_return;
  }
  const auto source = call.service.model(request->source);
  if (const Error* error = unknown(source)) {
    co_await respond(call, done_or(call, error));
    co_return;
  }
  const auto copied =
      co_await call.service.copy_model(std::move(request->source), std::move(request->destination));
  co_await respond(call, done_or(call, copied ? nullptr : &copied.error()));
}

Task<void> delete_model(Call call) {
  auto name = read_body(call.request().body, parse_model);
  if (!name) {
    co_await refuse(std::move(call), std::move(name).error());
    co_return;
  }
  const auto model = call.service.model(*name);
  if (const Error* error = unknown(model)) {
    co_await respond(call, done_or(call, error));
    co_return;
  }
  const auto removed = co_await call.service.remove_model(std::move(*name));
  co_await respond(call, done_or(call, removed ? nullptr : &removed.error()));
}

Task<void> version(Call call) {
  JsonWriter out;
  out.string("version", kOllamaApiLevel).string("hearth", hearth::version());
  co_await respond(call, json_response(out.object()));
}

}  // namespace hearth::api::ollama
