// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/process.h"
#include "wire/blocking_channel.h"
#include "wire/messages.h"

namespace hearth::front::testing {

// What a scripted worker does with one frame from the front; false: it dies there.
using Script = std::function<bool(wire::BlockingChannel&, const wire::Frame&)>;

// A worker that is a thread of the test: the real socket and the real frames, no process and no
// model.
class ScriptedProcess : public Process {
 public:
  explicit ScriptedProcess(Script script) : script_{std::move(script)} {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    ours_ = Fd{ends[0]};
    theirs_ = Fd{ends[1]};
    exited_ = Fd{::eventfd(0, EFD_CLOEXEC)};
    thread_ = std::thread{[this] { live(); }};
  }
  ~ScriptedProcess() override { ScriptedProcess::stop(std::chrono::milliseconds{0}); }

  pid_t pid() const override { return 4242; }
  int pidfd() const override { return exited_.get(); }
  int control() const override { return ours_.get(); }
  void kill() override {
    killed_ = true;
    ::shutdown(theirs_.get(), SHUT_RDWR);
  }
  ExitStatus stop(std::chrono::milliseconds) override {
    if (thread_.joinable()) {
      ::shutdown(ours_.get(), SHUT_RDWR);
      thread_.join();
      ours_.reset();
    }
    return killed_ ? ExitStatus{0, 9} : ExitStatus{};
  }

 private:
  void live() {
    wire::BlockingChannel channel{theirs_.get()};
    for (;;) {
      Result<wire::Frame> frame = channel.receive();
      if (!frame || !take(channel, std::move(*frame))) break;
    }
    ::shutdown(theirs_.get(), SHUT_RDWR);
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = ::write(exited_.get(), &one, sizeof one);
  }

  // As a real worker does, it keeps prompts until it was told to load: the front sends the load
  // once it is planned, which may be after the prompt.
  bool take(wire::BlockingChannel& channel, wire::Frame frame) {
    using wire::FrameType;
    if (!loaded_ && (frame.type == FrameType::kGenerate || frame.type == FrameType::kEmbed)) {
      kept_.push_back(std::move(frame));
      return true;
    }
    if (frame.type == FrameType::kLoad) loaded_ = true;
    if (frame.type == FrameType::kUnload) loaded_ = false;
    if (!script_(channel, frame)) return false;
    if (!loaded_) return true;
    const std::vector<wire::Frame> kept = std::exchange(kept_, {});
    return std::ranges::all_of(kept,
                               [&](const wire::Frame& each) { return script_(channel, each); });
  }

  Script script_;
  bool loaded_ = false;            // of thread_
  std::vector<wire::Frame> kept_;  // of thread_
  Fd ours_;
  Fd theirs_;
  Fd exited_;
  std::atomic<bool> killed_{false};
  std::thread thread_;
};

// Each spawn gets the next script; the last one is used again and again.
class ScriptedProcesses : public Processes {
 public:
  explicit ScriptedProcesses(std::vector<Script> scripts) : scripts_{std::move(scripts)} {}

  Result<std::unique_ptr<Process>> spawn(const ProcessSpec&) override {
    const int n = spawned_++;
    const std::size_t which = std::min(static_cast<std::size_t>(n), scripts_.size() - 1);
    return std::unique_ptr<Process>{std::make_unique<ScriptedProcess>(scripts_[which])};
  }
  int spawned() const { return spawned_; }

 private:
  std::vector<Script> scripts_;
  std::atomic<int> spawned_{0};
};

inline void answer(wire::BlockingChannel& channel, wire::FrameType type, std::uint64_t request,
                   std::string payload) {
  wire::Frame frame;
  frame.type = type;
  frame.request = request;
  frame.payload = std::move(payload);
  [[maybe_unused]] auto sent = channel.send(frame);
}

// A model that works: ready, loads, and answers every prompt with "Hello world".
inline bool well_behaved(wire::BlockingChannel& channel, const wire::Frame& frame) {
  using wire::FrameType;
  switch (frame.type) {
    case FrameType::kOpen: {
      wire::ReadyMessage ready;
      ready.backend = "scripted";
      ready.trained_context = 2048;
      ready.context_limit = 2048;
      answer(channel, FrameType::kReady, 0, wire::encode(ready));
      return true;
    }
    case FrameType::kLoad:
      answer(channel, FrameType::kLoaded, 0, wire::encode(wire::LoadedMessage{}));
      return true;
    case FrameType::kUnload:
      answer(channel, FrameType::kUnloaded, 0, "{}");
      return true;
    case FrameType::kGenerate: {
      wire::TokenizedMessage tokenized;
      tokenized.tokens = {1, 2, 3};
      answer(channel, FrameType::kTokenized, frame.request, wire::encode(tokenized));
      wire::StartedMessage started;
      started.prompt_tokens = 3;
      answer(channel, FrameType::kStarted, frame.request, wire::encode(started));
      for (const char* piece : {"Hello", " world"}) {
        wire::DeltaMessage delta;
        delta.text = piece;
        answer(channel, FrameType::kDelta, frame.request, wire::encode(delta));
      }
      wire::DoneMessage done;
      done.reason = "stop";
      done.prompt_tokens = 3;
      done.generated = 2;
      answer(channel, FrameType::kDone, frame.request, wire::encode(done));
      return true;
    }
    case FrameType::kEmbed: {
      wire::EmbeddedMessage embedded;
      embedded.vectors = {{0.6F, 0.8F}};
      embedded.prompt_tokens = 3;
      answer(channel, FrameType::kEmbedded, frame.request, wire::encode(embedded));
      return true;
    }
    default:
      return true;
  }
}

}  // namespace hearth::front::testing
