// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

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

  // While it lives, what its thread sends is held back, and then goes out at once: the tokens of
  // one step wake the front once, not once for each sequence. On a machine whose cores all
  // evaluate, every wake-up keeps one of them from a barrier. One thread at a time may hold.
  class Hold {
   public:
    explicit Hold(Replies& replies) : replies_{replies} {
      replies_.holder_ = std::this_thread::get_id();
    }
    ~Hold() {
      replies_.holder_ = std::thread::id{};
      replies_.send_held();
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    Replies& replies_;
  };

 private:
  void send_payload(wire::FrameType type, std::uint64_t request, std::string payload) {
    wire::Frame frame;
    frame.type = type;
    frame.request = request;
    frame.payload = std::move(payload);
    if (holder_ == std::this_thread::get_id()) {
      held_.push_back(std::move(frame));
    } else {
      send_one(frame);
    }
  }

  void send_held() {
    const std::vector<wire::Frame> frames = std::exchange(held_, {});
    const auto sent = channel_.send_all(frames);
    if (sent || sent.error().code() != ErrorCode::kInternal) return;
    for (const wire::Frame& frame : frames) send_one(frame);
  }

  void send_one(const wire::Frame& frame) {
    const auto sent = channel_.send(frame);
    // Over the wire's limits: somebody waits for it all the same.
    if (!sent && sent.error().code() == ErrorCode::kInternal)
      send_error(frame.request, sent.error());
  }

  wire::BlockingChannel& channel_;
  std::atomic<std::thread::id> holder_;
  std::vector<wire::Frame> held_;  // of the holding thread
};

}  // namespace hearth::worker
