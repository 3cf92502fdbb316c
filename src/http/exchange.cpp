// SPDX-License-Identifier: Apache-2.0
#include "http/exchange.h"

#include <fmt/format.h>

#include <utility>

namespace hearth::http {
namespace {

Failed gone() { return fail(ErrorCode::kCancelled, "the client has gone"); }

Failed out_of_order(std::string_view call) {
  return fail(ErrorCode::kInternal, std::string{call} + " out of order on an HTTP exchange");
}

}  // namespace

HttpExchange::HttpExchange(Connection& connection, HttpRequest request, Framing framing,
                           Rules rules)
    : connection_{connection},
      request_{std::move(request)},
      framing_{framing},
      rules_{std::move(rules)} {
  connection_.begin_exchange();
}

After HttpExchange::decide_after() const {
  const bool body_read = !rules_.body || rules_.body->complete();
  return framing_.keep_alive && body_read && rules_.may_keep_alive() ? After::kKeepAlive
                                                                     : After::kClose;
}

std::optional<Refusal> HttpExchange::body_refusal() const {
  return rules_.body ? rules_.body->refusal() : std::nullopt;
}

Task<Result<std::string>> HttpExchange::next_body_chunk() {
  if (!rules_.body) co_return std::string{};
  const auto invitation =
      state_ == State::kFresh ? BodyStream::Invitation::kPossible : BodyStream::Invitation::kLate;
  co_return co_await rules_.body->next(invitation);
}

Task<Result<>> HttpExchange::send(std::string bytes) {
  const bool sent = co_await connection_.send(std::move(bytes), rules_.write_timeout);
  if (!sent) co_return gone();
  co_return Result<>{};
}

Task<Result<>> HttpExchange::respond(HttpResponse response) {
  if (state_ != State::kFresh) co_return out_of_order("respond");
  if (client_gone()) co_return gone();
  after_ = decide_after();
  const bool bodyless = is_bodyless(response.status);
  const ResponseHead head{response.status, response.headers,
                          bodyless ? BodyFraming::kNone : BodyFraming::kLength,
                          response.body.size(), after_};
  std::string bytes = to_bytes(head);
  if (!bodyless && !framing_.head_only) bytes += response.body;
  response.body = std::string{};
  state_ = State::kStreaming;
  Result<> sent = co_await send(std::move(bytes));
  if (!sent) co_return sent;
  state_ = State::kComplete;
  connection_.end_exchange();
  co_return sent;
}

Task<Result<>> HttpExchange::begin_stream(int status, Headers headers) {
  if (state_ != State::kFresh) co_return out_of_order("begin_stream");
  if (client_gone()) co_return gone();
  after_ = decide_after();
  const bool bodyless = is_bodyless(status);
  body_wanted_ = !bodyless && !framing_.head_only;
  BodyFraming framing = framing_.chunked ? BodyFraming::kChunked : BodyFraming::kUntilClose;
  if (bodyless) framing = BodyFraming::kNone;
  const ResponseHead head{status, headers, framing, 0, after_};
  connection_.send_soon(to_bytes(head));
  state_ = State::kStreaming;
  co_return Result<>{};
}

Task<Result<>> HttpExchange::write(std::string bytes) {
  if (state_ != State::kStreaming) co_return out_of_order("write");
  if (client_gone()) co_return gone();
  if (bytes.empty() || !body_wanted_) co_return Result<>{};
  if (framing_.chunked) {
    bytes.insert(0, fmt::format("{:x}\r\n", bytes.size()));
    bytes += "\r\n";
  }
  co_return co_await send(std::move(bytes));
}

Task<Result<>> HttpExchange::end_stream() {
  if (state_ != State::kStreaming) co_return out_of_order("end_stream");
  if (client_gone()) co_return gone();
  const bool marked = framing_.chunked && body_wanted_;
  std::string end = marked ? "0\r\n\r\n" : "";
  Result<> sent = co_await send(std::move(end));
  if (!sent) co_return sent;
  state_ = State::kComplete;
  connection_.end_exchange();
  co_return sent;
}

void HttpExchange::on_client_gone(std::function<void()> callback) {
  if (state_ != State::kComplete) connection_.on_gone(std::move(callback));
}

}  // namespace hearth::http
