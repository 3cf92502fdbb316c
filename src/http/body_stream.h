// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/async.h"
#include "base/result.h"
#include "http/connection.h"
#include "http/request_parser.h"
#include "http/server.h"

namespace hearth::http {

// What a client is told whose request or body does not come.
inline constexpr const char* kLateBody = "The request took too long to arrive.";

// By when more of a body has to come that began at `begun`, when `received` of it is here `now`.
TimePoint body_deadline(const ServerConfig& config, TimePoint begun, TimePoint now, Bytes received);

// A request's body on its way to a handler that takes it piece by piece. What the client sends is
// read no further than 64 KiB ahead of that; it waits while nobody takes anything. Belongs to the
// loop.
class BodyStream {
 public:
  // Whether a client that waits for 100 Continue can still be sent it.
  enum class Invitation { kPossible, kLate };

  // The references outlive it. `parser` has read the header, and nothing of the body.
  BodyStream(EventLoop& loop, const ServerConfig& config, Connection& connection,
             std::unique_ptr<RequestParser> parser);

  // As Exchange::next_body_chunk().
  Task<Result<std::string>> next(Invitation invitation);

  bool complete() const { return complete_; }  // what follows is the next request
  const std::optional<Refusal>& refusal() const { return refusal_; }

 private:
  Task<void> invite(Invitation invitation);
  Failed refused(Refusal refusal);
  Task<Result<std::string>> read();

  EventLoop& loop_;
  const ServerConfig& config_;
  Connection& connection_;
  std::unique_ptr<RequestParser> parser_;
  std::optional<Refusal> refusal_;
  TimePoint begun_;    // put off by the time in which nobody waited for the body
  TimePoint left_at_;  // when the last piece was taken
  bool invited_ = false;
  bool complete_ = false;
};

}  // namespace hearth::http
