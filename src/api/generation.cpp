// SPDX-License-Identifier: Apache-2.0
#include "api/generation.h"

#include <fmt/format.h>

#include "api/client_watch.h"
#include "api/errors.h"
#include "api/late_stream.h"
#include "api/reply_headers.h"
#include "api/trace_parent.h"
#include "base/version.h"

namespace hearth::api {
namespace {

// One reply on its way to a client that reads it piece by piece.
class Stream {
 public:
  Stream(Call call, GenerateCall request, MakeFormat make_format)
      : call_{std::move(call)},
        request_{std::move(request)},
        make_format_{std::move(make_format)},
        out_{call_.exchange} {}

  Task<void> run() {
    front::GenerateRequest generate{context_of(call_, request_.options),
                                    std::move(request_.message)};
    reply_ = call_.service.generate(std::move(generate), front::Delivery::kStreamed);
    const ClientWatch watch{call_.exchange, *reply_};
    bool more = true;
    while (more) {
      front::Event event = co_await reply_->next();
      more = co_await take(std::move(event));
    }
  }

 private:
  // False when that was the last event, or the client no longer takes any.
  Task<bool> take(front::Event event) {
    if (auto* delta = std::get_if<front::Delta>(&event)) {
      co_return co_await send_delta(std::move(*delta));
    }
    if (auto* started = std::get_if<front::Started>(&event)) {
      // Nothing is sent yet: the first delta is about to come, and headers and it go out together.
      started_ = std::move(*started);
      co_return true;
    }
    if (auto* progress = std::get_if<front::Progress>(&event)) {
      if (!request_.options.return_progress) co_return true;
      std::string out;
      format().append_progress(out, *progress);
      co_return co_await send(std::move(out));
    }
    if (auto* finished = std::get_if<front::Finished>(&event)) {
      co_await finish(std::move(*finished));
      co_return false;
    }
    if (auto* refused = std::get_if<front::Refused>(&event)) {
      co_await refuse_now(std::move(*refused));
      co_return false;
    }
    started_ = {};  // Restarted: what was known of the first try is void
    co_return true;
  }

  Task<bool> send_delta(front::Delta delta) {
    std::string out;
    append_opening(out);
    format().append_delta(out, delta);
    co_return co_await send(std::move(out));
  }

  Task<void> finish(front::Finished finished) {
    if (!out_.begun()) started_.report = finished.report;
    std::string out;
    append_opening(out);
    format().append_end(out, finished);
    const bool sent = co_await send(std::move(out));
    if (sent) co_await end();
  }

  Task<void> refuse_now(front::Refused refused) {
    if (!out_.begun()) {
      co_await send_refusal(call_, *reply_, std::move(refused));
      co_return;
    }
    if (nobody_listens(call_.exchange, refused)) {
      reply_->sent(kClientGone);
      co_return;
    }
    std::string out;
    format().append_error(out, refused);
    const bool sent = co_await send(std::move(out));
    if (sent) co_await end();
  }

  ReplyFormat& format() {
    if (!format_) format_ = make_format_(identity_of(call_, *reply_, request_.options.model));
    return *format_;
  }

  void append_opening(std::string& out) {
    if (!std::exchange(opened_, true)) format().append_first(out, started_);
  }

  // False when the client is gone; the reply is then dropped.
  Task<bool> send(std::string bytes) {
    if (!out_.begun()) {
      http::Headers headers{{"Content-Type", std::string{format().content_type()}},
                            {"Cache-Control", "no-cache"}};
      add_headers(headers, call_, *reply_, started_.report);
      out_.set_headers(std::move(headers));
    }
    return out_.send(std::move(bytes));
  }

  Task<void> end() {
    co_await out_.end();
    reply_->sent(200);
  }

  Call call_;
  GenerateCall request_;
  MakeFormat make_format_;
  LateStream out_;
  std::unique_ptr<front::Reply> reply_;
  std::unique_ptr<ReplyFormat> format_;  // from the first chunk on
  front::Started started_;               // what headers and opening say
  bool opened_ = false;                  // also what comes before the text
};

Task<void> serve_whole(Call call, GenerateCall request, MakeFormat make_format) {
  front::GenerateRequest generate{context_of(call, request.options), std::move(request.message)};
  const auto reply = call.service.generate(std::move(generate), front::Delivery::kWhole);
  const ClientWatch watch{call.exchange, *reply};
  Collected collected;
  front::Event event = co_await collect(*reply, collected);
  if (auto* refused = std::get_if<front::Refused>(&event)) {
    co_await send_refusal(call, *reply, std::move(*refused));
    co_return;
  }
  const auto& finished = std::get<front::Finished>(event);
  const auto format = make_format(identity_of(call, *reply, request.options.model));
  http::HttpResponse response;
  response.headers.push_back({"Content-Type", std::string{format->whole_content_type()}});
  response.body = format->whole(collected, finished);
  add_headers(response.headers, call, *reply, finished.report);
  (void)co_await call.exchange.respond(std::move(response));
  reply->sent(200);
}

}  // namespace

Task<front::Event> collect(front::Reply& reply, Collected& collected) {
  for (;;) {
    front::Event event = co_await reply.next();
    if (const auto* delta = std::get_if<front::Delta>(&event)) collected.add(*delta);
    // What was collected before a worker died is void.
    if (std::holds_alternative<front::Restarted>(event)) collected = {};
    if (std::holds_alternative<front::Finished>(event) ||
        std::holds_alternative<front::Refused>(event)) {
      co_return std::move(event);
    }
  }
}

front::RequestContext context_of(const Call& call, const RequestOptions& options) {
  front::RequestContext context;
  context.model = options.model;
  context.api = name_of(call.dialect);
  context.key = call.caller.key;
  context.keep_alive = options.keep_alive;
  context.modules = options.modules;
  context.approximate = options.approximate;
  context.path = call.request().path;
  context.first_byte = call.request().first_byte;
  context.wait_limit = preferred_wait(call.request());
  context.trace_parent = trace_parent_of(call.request());
  return context;
}

ReplyIdentity identity_of(const Call& call, const front::Reply& reply, const std::string& model) {
  ReplyIdentity identity{reply.id(), model, model, std::string{engine_build()},
                         call.options.clock->wall_us()};
  const auto status = call.service.model(model);
  if (!status) return identity;
  identity.model = status->name;
  if (status->worker && !status->worker->engine.empty()) {
    identity.fingerprint = fmt::format("{} {}", status->worker->engine, status->worker->backend);
  }
  return identity;
}

Task<void> refuse(Call call, Error error) {
  auto response = error_response(call.dialect, audience_of(call), error);
  (void)co_await call.exchange.respond(std::move(response));
}

void add_headers(http::Headers& headers, const Call& call, const front::Reply& reply,
                 const RequestReport& report) {
  add_report_headers(headers, reply.id(), report);
  // A stream that begins with progress has no report yet.
  const auto trace = report.trace ? std::nullopt : reply.trace();
  if (trace) headers.push_back({"traceparent", traceparent_of(trace->context)});
  if (call.dialect == Dialect::kAnthropic) headers.push_back({"request-id", reply.id()});
}

Task<void> send_refusal(Call call, front::Reply& reply, front::Refused refused) {
  if (nobody_listens(call.exchange, refused)) {
    reply.sent(kClientGone);
    co_return;
  }
  auto response = error_response(call.dialect, audience_of(call), refused);
  const int status = response.status;
  add_headers(response.headers, call, reply, refused.report);
  (void)co_await call.exchange.respond(std::move(response));
  reply.sent(status);
}

Task<void> serve_count(Call call, GenerateCall request, CountBody body) {
  front::GenerateRequest generate{context_of(call, request.options), std::move(request.message)};
  const auto reply = call.service.generate(std::move(generate), front::Delivery::kWhole);
  const ClientWatch watch{call.exchange, *reply};
  Collected nothing;
  front::Event event = co_await collect(*reply, nothing);
  if (auto* refused = std::get_if<front::Refused>(&event)) {
    co_await send_refusal(call, *reply, std::move(*refused));
    co_return;
  }
  const auto& finished = std::get<front::Finished>(event);
  auto response = http::HttpResponse::json(200, body(finished.prompt_tokens));
  add_headers(response.headers, call, *reply, finished.report);
  (void)co_await call.exchange.respond(std::move(response));
  reply->sent(200);
}

Task<void> serve_generate(Call call, GenerateCall request, MakeFormat make_format) {
  if (request.delivery == front::Delivery::kWhole) {
    co_await serve_whole(std::move(call), std::move(request), std::move(make_format));
    co_return;
  }
  Stream stream{std::move(call), std::move(request), std::move(make_format)};
  co_await stream.run();
}

}  // namespace hearth::api
