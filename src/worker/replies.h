// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "base/result.h"
#include "wire/blocking_channel.h"
#include "wire/frame.h"
#include "wire/messages.h"

namespace hearth::worker {

// The way to the front. Thread-safe. When the front has gone there is nobody to tell: what is sent
// then is dropped, and the receiving side learns of it by itself.
class Replies {
 public:
  explicit Replies(wire::BlockingChannel& channel) : channel_{channel} {}

  template <class Message>
  void send(wire::FrameType type, std::uint64_t request, const Message& message) {
    send_payload(type, request, wire::encode(message));
  }
  void send_empty(wire::FrameType type, std::uint64_t request) {
    send_payload(type, request, "{}");
  }

  void send_error(std::uint64_t request, const Error& error) {
    wire::FailedMessage failed;
    failed.code = name_of(error.code());
    failed.message = error.message();
    failed.field = error.field();
    failed.prompt_tokens = error.counts().prompt_tokens;
    failed.context = error.counts().context_tokens;
    send(wire::FrameType::kFailed, request, failed);
  }

 private:
  void send_payload(wire::FrameType type, std::uint64_t request, std::string payload) {
    wire::Frame frame;
    frame.type = type;
    frame.request = request;
    frame.payload = std::move(payload);
    const auto sent = channel_.send(frame);
    // Over the wire's limits: somebody waits for it all the same.
    if (!sent && sent.error().code() == ErrorCode::kInternal) send_error(request, sent.error());
  }

  wire::BlockingChannel& channel_;
};

}  // namespace hearth::worker
