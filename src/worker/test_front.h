// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "wire/blocking_channel.h"
#include "wire/messages.h"
#include "worker/worker.h"

namespace hearth::worker::test {

// What a test saw of one request.
struct Reply {
  std::string text;
  std::vector<wire::TokenLogprob> logprobs;
  std::vector<wire::FrameType> frames;
  wire::TokenizedMessage tokenized;
  wire::StartedMessage started;
  wire::DoneMessage done;
  wire::EmbeddedMessage embedded;
  std::optional<wire::FailedMessage> failed;
};

// A worker in a thread of the test, and the front's end of its socket.
class TestFront {
 public:
  TestFront() {
    int pair[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    ours_ = Fd{pair[0]};
    theirs_ = Fd{pair[1]};
    channel_ = std::make_unique<wire::BlockingChannel>(ours_.get());
    worker_ = std::thread{[this] {
      Worker worker{theirs_.get()};
      worker.run();
    }};
  }
  ~TestFront() { hang_up(); }

  // Returns once the worker has ended.
  void hang_up() {
    if (!worker_.joinable()) return;
    ::shutdown(ours_.get(), SHUT_RDWR);
    worker_.join();
  }

  void send(wire::FrameType type, std::uint64_t request, std::string payload = "{}") {
    wire::Frame frame;
    frame.type = type;
    frame.request = request;
    frame.payload = std::move(payload);
    EXPECT_TRUE(channel_->send(frame));
  }

  wire::Frame next() {
    auto frame = channel_->receive();
    EXPECT_TRUE(frame) << frame.error().message();
    return frame ? *std::move(frame) : wire::Frame{};
  }
  wire::Frame next(wire::FrameType type) {
    for (;;) {
      wire::Frame frame = next();
      if (frame.type == type || frame.type == wire::FrameType::kFailed) return frame;
      if (::testing::Test::HasFailure()) return {};
    }
  }

  wire::ReadyMessage open(const std::string& path, wire::LoadOptions options,
                          const std::vector<std::string>& adapters = {}) {
    wire::Frame frame;
    frame.type = wire::FrameType::kOpen;
    frame.payload =
        wire::encode(wire::OpenMessage{"test", options, {}, static_cast<int>(adapters.size())});
    frame.descriptors.emplace_back(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    for (const std::string& adapter : adapters) {
      frame.descriptors.emplace_back(::open(adapter.c_str(), O_RDONLY | O_CLOEXEC));
    }
    EXPECT_TRUE(channel_->send(frame));
    const auto ready = wire::decode_ready(next(wire::FrameType::kReady).payload);
    EXPECT_TRUE(ready);
    return ready.value_or(wire::ReadyMessage{});
  }
  void send_file(wire::FrameType type, std::string payload, const Fd& file) {
    wire::Frame frame;
    frame.type = type;
    frame.payload = std::move(payload);
    frame.descriptors.emplace_back(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0));
    EXPECT_TRUE(channel_->send(frame));
  }
  void send_plan(std::uint64_t request, const wire::PrefixPlanMessage& plan,
                 std::vector<Fd> files = {}) {
    wire::Frame frame;
    frame.type = wire::FrameType::kPrefixPlan;
    frame.request = request;
    frame.payload = wire::encode(plan);
    frame.descriptors = std::move(files);
    EXPECT_TRUE(channel_->send(frame));
  }
  wire::StoredMessage store(const std::string& content, const Fd& file) {
    send_file(wire::FrameType::kStore, wire::encode(wire::StoreMessage{content}), file);
    const auto stored = wire::decode_stored(next(wire::FrameType::kStored).payload);
    EXPECT_TRUE(stored);
    return stored.value_or(wire::StoredMessage{});
  }
  void unload() {
    send(wire::FrameType::kUnload, 0);
    EXPECT_EQ(next(wire::FrameType::kUnloaded).type, wire::FrameType::kUnloaded);
  }

  wire::LoadedMessage load(const wire::LoadMessage& how = {}, const Fd& stored = {}) {
    if (stored) {
      send_file(wire::FrameType::kLoad, wire::encode(how), stored);
    } else {
      send(wire::FrameType::kLoad, 0, wire::encode(how));
    }
    const auto loaded = wire::decode_loaded(next(wire::FrameType::kLoaded).payload);
    EXPECT_TRUE(loaded);
    return loaded.value_or(wire::LoadedMessage{});
  }

  // Reads frames until `count` requests have ended; replies by request number.
  std::map<std::uint64_t, Reply> collect(std::size_t count) {
    std::map<std::uint64_t, Reply> replies;
    for (std::size_t ended = 0; ended < count && !::testing::Test::HasFailure();) {
      const wire::Frame frame = next();
      if (frame.request != 0 && take(frame, replies[frame.request])) ++ended;
    }
    return replies;
  }

  Reply generate(const wire::GenerateMessage& message) {
    const std::uint64_t id = ++last_id_;
    send(wire::FrameType::kGenerate, id, wire::encode(message));
    return collect(1)[id];
  }

 private:
  static bool take(const wire::Frame& frame, Reply& reply) {
    reply.frames.push_back(frame.type);
    switch (frame.type) {
      case wire::FrameType::kTokenized:
        reply.tokenized = *wire::decode_tokenized(frame.payload);
        return false;
      case wire::FrameType::kStarted:
        reply.started = *wire::decode_started(frame.payload);
        return false;
      case wire::FrameType::kDelta: {
        const wire::DeltaMessage delta = *wire::decode_delta(frame.payload);
        reply.text += delta.text;
        reply.logprobs.insert(reply.logprobs.end(), delta.logprobs.begin(), delta.logprobs.end());
        return false;
      }
      case wire::FrameType::kDone:
        reply.done = *wire::decode_done(frame.payload);
        return true;
      case wire::FrameType::kEmbedded:
        reply.embedded = *wire::decode_embedded(frame.payload);
        return true;
      case wire::FrameType::kFailed:
        reply.failed = *wire::decode_failed(frame.payload);
        return true;
      default:
        return false;
    }
  }

  Fd ours_, theirs_;
  std::unique_ptr<wire::BlockingChannel> channel_;
  std::thread worker_;
  std::uint64_t last_id_ = 1000;
};

inline wire::GenerateMessage greedy(const std::string& prompt, int max_tokens) {
  wire::GenerateMessage message;
  message.prompt = prompt;
  message.max_tokens = max_tokens;
  message.sampling.temperature = 0.0;
  return message;
}

}  // namespace hearth::worker::test
