// SPDX-License-Identifier: Apache-2.0
#include "http/body_stream.h"

#include <algorithm>
#include <utility>

namespace hearth::http {

TimePoint body_deadline(const ServerConfig& config, TimePoint begun, TimePoint now,
                        Bytes received) {
  const auto rate = static_cast<double>(std::max<std::uint64_t>(config.min_body_rate.count(), 1));
  const std::chrono::duration<double> earned{static_cast<double>(received.count()) / rate};
  const TimePoint in_all =
      begun + config.body_timeout + std::chrono::duration_cast<Duration>(earned);
  return std::min(in_all, now + config.body_timeout);
}

BodyStream::BodyStream(EventLoop& loop, const ServerConfig& config, Connection& connection,
                       std::unique_ptr<RequestParser> parser)
    : loop_{loop},
      config_{config},
      connection_{connection},
      parser_{std::move(parser)},
      begun_{loop.now()},
      left_at_{begun_} {}

Task<Result<std::string>> BodyStream::next(Invitation invitation) {
  if (refusal_) co_return fail(ErrorCode::kInvalid, refusal_->message);
  if (complete_) co_return std::string{};
  begun_ += loop_.now() - left_at_;
  if (!std::exchange(invited_, true)) co_await invite(invitation);
  Result<std::string> piece = co_await read();
  left_at_ = loop_.now();
  co_return piece;
}

Task<void> BodyStream::invite(Invitation invitation) {
  const bool waits = parser_->expects_continue() && connection_.input().empty();
  if (!waits || invitation == Invitation::kLate) co_return;
  std::string go_on = "HTTP/1.1 100 Continue\r\n\r\n";
  co_await connection_.send(std::move(go_on), config_.write_timeout);
}

Failed BodyStream::refused(Refusal refusal) {
  refusal_ = std::move(refusal);
  return fail(ErrorCode::kInvalid, refusal_->message);
}

Task<Result<std::string>> BodyStream::read() {
  std::string piece;
  while (piece.empty()) {
    auto progress = parser_->feed(connection_.input());
    if (!progress) co_return refused(std::move(progress).error());
    connection_.consume(progress->used);
    piece = parser_->take_piece();
    complete_ = progress->phase == RequestParser::Phase::kComplete;
    if (complete_ || !piece.empty()) break;
    const TimePoint deadline =
        body_deadline(config_, begun_, loop_.now(), parser_->body_received());
    const Connection::Arrival arrival = co_await connection_.more_input(deadline);
    if (arrival == Connection::Arrival::kClosed) {
      co_return fail(ErrorCode::kCancelled, "the client has gone");
    }
    if (arrival == Connection::Arrival::kTimedOut) co_return refused({408, kLateBody});
  }
  co_return piece;
}

}  // namespace hearth::http
