// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "http/body_stream.h"
#include "http/connection.h"
#include "http/request_parser.h"
#include "http/response_head.h"
#include "http/server.h"

namespace hearth::http {

// The server's Exchange: one request on one connection.
class HttpExchange final : public Exchange {
 public:
  enum class State { kFresh, kStreaming, kComplete };

  struct Rules {
    std::chrono::milliseconds write_timeout{};
    // Asked when the answer begins: may the connection go on after it?
    std::function<bool()> may_keep_alive;
    std::unique_ptr<BodyStream> body{};  // where it is streamed
  };

  // `connection` outlives the exchange.
  HttpExchange(Connection& connection, HttpRequest request, Framing framing, Rules rules);
  ~HttpExchange() override { connection_.end_exchange(); }
  HttpExchange(const HttpExchange&) = delete;
  HttpExchange& operator=(const HttpExchange&) = delete;

  const HttpRequest& request() const override { return request_; }
  Task<Result<std::string>> next_body_chunk() override;
  Task<Result<>> respond(HttpResponse response) override;
  Task<Result<>> begin_stream(int status, Headers headers) override;
  Task<Result<>> write(std::string bytes) override;
  Task<Result<>> end_stream() override;
  bool client_gone() const override { return connection_.gone(); }
  void on_client_gone(std::function<void()> callback) override;

  State state() const { return state_; }

  // Why the body could not be read to its end, where that was the client's fault.
  std::optional<Refusal> body_refusal() const;

  // Valid once an answer has begun.
  After after() const { return after_; }

 private:
  After decide_after() const;
  Task<Result<>> send(std::string bytes);

  Connection& connection_;
  HttpRequest request_;
  Framing framing_;
  Rules rules_;
  State state_ = State::kFresh;
  After after_ = After::kClose;
  bool body_wanted_ = true;
};

}  // namespace hearth::http
