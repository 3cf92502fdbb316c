// SPDX-License-Identifier: Apache-2.0
#include "api/admin/load.h"

#include "api/admin/answer.h"
#include "api/errors.h"
#include "api/late_stream.h"
#include "timeline/json_writer.h"

namespace hearth::api::admin {
namespace {

constexpr std::string_view kJsonLines = "application/x-ndjson";

// An answer that grows while a model loads.
class LineStream {
 public:
  LineStream(Call call, RequestOptions options)
      : call_{std::move(call)}, options_{std::move(options)}, out_{call_.exchange} {}

  Task<void> run() {
    front::LoadRequest load{context_of(call_, options_)};
    reply_ = call_.service.load(std::move(load));
    for (;;) {
      front::Event event = co_await reply_->next();
      if (const auto* progress = std::get_if<front::Progress>(&event)) {
        std::string line = JsonWriter{}.raw("progress", progress_json(*progress)).object();
        co_await send(std::move(line));
      } else if (auto* refused = std::get_if<front::Refused>(&event)) {
        co_await refuse_now(std::move(*refused));
        co_return;
      } else if (const auto* finished = std::get_if<front::Finished>(&event)) {
        report_ = finished->report;
        co_await finish();
        co_return;
      }
    }
  }

 private:
  Task<void> refuse_now(front::Refused refused) {
    if (!out_.begun()) {
      co_await send_refusal(call_, *reply_, std::move(refused));
      co_return;
    }
    std::string line = error_body(call_.dialect, audience_of(call_), refused);
    co_await send(std::move(line));
    co_await end();
  }

  Task<void> finish() {
    const auto model = call_.service.model(options_.model);
    std::string line = model_answer(call_, model).body;
    co_await send(std::move(line));
    co_await end();
  }

  // Goes on when nobody reads any more: the load does too.
  Task<void> send(std::string line) {
    if (!out_.begun()) {
      http::Headers headers{{"Content-Type", std::string{kJsonLines}},
                            {"Cache-Control", "no-cache"}};
      add_headers(headers, call_, *reply_, report_);
      out_.set_headers(std::move(headers));
    }
    line += '\n';
    (void)co_await out_.send(std::move(line));
  }

  Task<void> end() {
    co_await out_.end();
    reply_->sent(200);
  }

  Call call_;
  RequestOptions options_;
  LateStream out_;
  std::unique_ptr<front::Reply> reply_;
  RequestReport report_;
};

Task<void> load_whole(Call call, RequestOptions options) {
  front::LoadRequest load{context_of(call, options)};
  const auto reply = call.service.load(std::move(load));
  Collected nothing;
  front::Event event = co_await collect(*reply, nothing);
  if (auto* refused = std::get_if<front::Refused>(&event)) {
    co_await send_refusal(call, *reply, std::move(*refused));
    co_return;
  }
  auto response = model_answer(call, call.service.model(options.model));
  add_headers(response.headers, call, *reply, std::get<front::Finished>(event).report);
  const int status = response.status;
  (void)co_await call.exchange.respond(std::move(response));
  reply->sent(status);
}

}  // namespace

Task<void> load_weights(Call call, RequestOptions options) {
  if (!options.return_progress) {
    co_await load_whole(std::move(call), std::move(options));
    co_return;
  }
  LineStream stream{std::move(call), std::move(options)};
  co_await stream.run();
}

}  // namespace hearth::api::admin
