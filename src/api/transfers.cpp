// SPDX-License-Identifier: Apache-2.0
#include "api/transfers.h"

#include <utility>
#include <variant>

#include "api/errors.h"
#include "api/generation.h"
#include "api/late_stream.h"

namespace hearth::api {
namespace {

// While it lives, a client that goes away ends the wait. Both are references that outlive it.
class TransferWatch {
 public:
  TransferWatch(http::Exchange& exchange, front::Transfer& transfer) : exchange_{exchange} {
    exchange.on_client_gone([&transfer] { transfer.cancel(); });
    if (exchange.client_gone()) transfer.cancel();
  }
  ~TransferWatch() { exchange_.on_client_gone({}); }
  TransferWatch(const TransferWatch&) = delete;
  TransferWatch& operator=(const TransferWatch&) = delete;

 private:
  http::Exchange& exchange_;
};

Error in_words_of(const TransferFormat& format, Error error) {
  if (error.field() != "source") return error;
  return std::move(error).at(std::string{format.source_field()});
}

// A transfer on its way to a client that reads line by line.
class Lines {
 public:
  Lines(Call call, front::Transfer& transfer, TransferFormat& format)
      : call_{std::move(call)}, transfer_{transfer}, format_{format}, out_{call_.exchange} {}

  Task<void> run() {
    bool more = true;
    while (more) {
      front::TransferEvent event = co_await transfer_.next();
      more = co_await take(std::move(event));
    }
  }

 private:
  // False when that was the last event, or the client no longer takes any.
  Task<bool> take(front::TransferEvent event) {
    if (const auto* error = std::get_if<Error>(&event)) {
      co_await refuse_now(*error);
      co_return false;
    }
    std::string out;
    const auto* done = std::get_if<front::TransferDone>(&event);
    if (const auto* progress = std::get_if<front::TransferProgress>(&event)) {
      format_.append_progress(out, *progress);
    } else if (const auto* verified = std::get_if<front::Verified>(&event)) {
      format_.append_verified(out, *verified);
    } else {
      format_.append_done(out, *done);
    }
    const bool last = done != nullptr;
    const bool sent = co_await send(std::move(out));
    if (sent && last) co_await out_.end();
    co_return sent && !last;
  }

  Task<void> refuse_now(const Error& error) {
    if (call_.exchange.client_gone()) co_return;
    if (!out_.begun()) {
      Error refusal = in_words_of(format_, error);
      co_await refuse(call_, std::move(refusal));
      co_return;
    }
    std::string out;
    format_.append_error(out, in_words_of(format_, error));
    const bool sent = co_await send(std::move(out));
    if (sent) co_await out_.end();
  }

  Task<bool> send(std::string bytes) {
    if (bytes.empty()) co_return true;
    if (!out_.begun()) {
      http::Headers headers{{"Content-Type", std::string{format_.content_type()}},
                            {"Cache-Control", "no-cache"}};
      out_.set_headers(std::move(headers));
    }
    co_return co_await out_.send(std::move(bytes));
  }

  Call call_;
  front::Transfer& transfer_;
  TransferFormat& format_;
  LateStream out_;
};

http::HttpResponse answer_of(const Call& call, const front::TransferEvent& event,
                             TransferFormat& format) {
  if (const auto* error = std::get_if<Error>(&event)) {
    return error_response(call.dialect, audience_of(call), in_words_of(format, *error));
  }
  if (const auto* progress = std::get_if<front::TransferProgress>(&event)) {
    return http::HttpResponse::json(202, format.whole(*progress));
  }
  return http::HttpResponse::json(200, format.whole(std::get<front::TransferDone>(event)));
}

bool is_answer(const front::TransferEvent& event, const TransferOptions& options) {
  if (std::holds_alternative<front::TransferProgress>(event)) return options.detach;
  return !std::holds_alternative<front::Verified>(event);
}

Task<void> serve_whole(Call call, front::Transfer& transfer, TransferFormat& format,
                       TransferOptions options) {
  front::TransferEvent event = co_await transfer.next();
  while (!is_answer(event, options)) event = co_await transfer.next();
  if (call.exchange.client_gone()) co_return;
  http::HttpResponse response = answer_of(call, event, format);
  (void)co_await call.exchange.respond(std::move(response));
}

}  // namespace

Task<void> serve_transfer(Call call, std::unique_ptr<front::Transfer> transfer,
                          std::unique_ptr<TransferFormat> format, TransferOptions options) {
  if (options.detach) transfer->detach();
  const TransferWatch watch{call.exchange, *transfer};
  if (options.delivery == front::Delivery::kWhole) {
    co_await serve_whole(call, *transfer, *format, options);
    co_return;
  }
  Lines lines{call, *transfer, *format};
  co_await lines.run();
}

}  // namespace hearth::api
