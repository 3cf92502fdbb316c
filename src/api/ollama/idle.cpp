// SPDX-License-Identifier: Apache-2.0
#include "api/ollama/idle.h"

#include <memory>
#include <utility>

#include "api/client_watch.h"
#include "api/errors.h"
#include "api/late_stream.h"
#include "api/ollama/reply_format.h"
#include "api/reply_headers.h"

namespace hearth::api::ollama {
namespace {

// A load on its way to the client: whole, or with lines that tell of progress before the last one.
// It is the server's own, and goes on when the client leaves.
class Loading {
 public:
  Loading(Call call, IdleCall request)
      : call_{std::move(call)}, request_{std::move(request)}, out_{call_.exchange} {}

  Task<void> run() {
    front::LoadRequest load{context_of(call_, request_.options)};
    reply_ = call_.service.load(std::move(load));
    bool more = true;
    while (more) {
      front::Event event = co_await reply_->next();
      more = co_await take(std::move(event));
    }
  }

 private:
  // False when that was the last event.
  Task<bool> take(front::Event event) {
    if (auto* finished = std::get_if<front::Finished>(&event)) {
      co_await finish(std::move(*finished));
      co_return false;
    }
    if (auto* refused = std::get_if<front::Refused>(&event)) {
      co_await refuse_now(std::move(*refused));
      co_return false;
    }
    const auto* progress = std::get_if<front::Progress>(&event);
    if (progress == nullptr || !request_.progress) co_return true;
    std::string line;
    format().append_progress(line, *progress);
    (void)co_await send(std::move(line));
    co_return true;
  }

  Task<void> finish(front::Finished finished) {
    std::string body = request_.body("load", finished.report);
    if (out_.begun()) {
      body += '\n';
      (void)co_await send(std::move(body));
      co_await end();
      co_return;
    }
    auto response = json_response(std::move(body));
    add_report_headers(response.headers, reply_->id(), finished.report);
    (void)co_await call_.exchange.respond(std::move(response));
    reply_->sent(200);
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
    std::string line;
    format().append_error(line, refused);
    (void)co_await send(std::move(line));
    co_await end();
  }

  ReplyFormat& format() {
    if (!format_) format_ = request_.progress(identity_of(call_, *reply_, request_.options.model));
    return *format_;
  }

  Task<bool> send(std::string bytes) {
    if (!out_.begun()) {
      http::Headers headers{{"Content-Type", std::string{kNdjson}}, {"Cache-Control", "no-cache"}};
      add_report_headers(headers, reply_->id(), RequestReport{});
      out_.set_headers(std::move(headers));
    }
    return out_.send(std::move(bytes));
  }

  Task<void> end() {
    co_await out_.end();
    reply_->sent(200);
  }

  Call call_;
  IdleCall request_;
  LateStream out_;
  std::unique_ptr<front::Reply> reply_;
  std::unique_ptr<ReplyFormat> format_;  // once there is progress to tell of
};

Task<void> unload(Call call, IdleCall request) {
  const auto unloaded = co_await call.service.release(request.options.model);
  auto response = unloaded ? json_response(request.body("unload", RequestReport{}))
                           : error_response(call.dialect, audience_of(call), unloaded.error());
  (void)co_await call.exchange.respond(std::move(response));
}

}  // namespace

Task<void> serve_idle(Call call, IdleCall request) {
  if (request.purpose == Purpose::kUnload) {
    co_await unload(std::move(call), std::move(request));
    co_return;
  }
  Loading loading{std::move(call), std::move(request)};
  co_await loading.run();
}

http::HttpResponse json_response(std::string body) {
  http::HttpResponse response;
  response.headers.push_back({"Content-Type", std::string{kJson}});
  response.body = std::move(body);
  return response;
}

}  // namespace hearth::api::ollama
