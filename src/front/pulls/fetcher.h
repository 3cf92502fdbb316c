// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "base/fd.h"
#include "base/pool.h"
#include "base/process.h"
#include "base/result.h"
#include "base/sync.h"
#include "front/worker.h"
#include "wire/fetch_messages.h"

namespace hearth::front {

// The process that fetches for one pull, and nothing else. It is started with the first question;
// when one dies, the question is put to another, a few times in a row. Questions go one by one.
// Belongs to the loop. Call stop() before destroying it.
class Fetcher {
 public:
  struct World {
    EventLoop& loop;
    Pool& pool;  // of what runs
    Processes& processes;
    std::string program;                   // path of hearth-fetcher; empty: there is none
    std::vector<std::string> environment;  // proxies and certificates, no secrets
  };
  // Called for each message on the way, in order, before the question's task goes on.
  using OnFetching = std::function<void(const wire::Fetching&)>;

  Fetcher(World world, wire::FetchRules rules);
  ~Fetcher();
  Fetcher(const Fetcher&) = delete;
  Fetcher& operator=(const Fetcher&) = delete;

  // Errors: what the fetcher says; kUnavailable, when several died over it; kCancelled, after
  // end(); kUnsupported (there is no fetcher).
  Task<Result<wire::FetchedText>> text(wire::FetchText what);

  // Where the bytes go.
  struct Target {
    Fd data;
    Fd journal;
  };
  static Fd again(const Fd& file);  // another descriptor of the same open file

  // Errors: likewise. What has been written stays.
  Task<Result<wire::Fetched>> file(wire::FetchFile what, Target target, OnFetching on_fetching);

  // The process goes at once, by SIGKILL; questions, also later ones, fail with kCancelled.
  void end();
  // The same, and waits until it is reaped.
  Task<void> stop();

  // Processes that ended by themselves, or for nonsense.
  int deaths() const { return deaths_; }

  static constexpr int kTries = 4;  // without any progress
  static constexpr std::chrono::seconds kBetweenTries{1};

 private:
  struct Question {
    wire::FrameType type;
    std::string payload;
    std::optional<Target> target;
    OnFetching on_fetching;
  };
  struct Asked {
    std::uint64_t id = 0;
    const OnFetching* on_fetching = nullptr;
    Bytes done;  // the most that was there of it
    std::optional<Result<wire::Frame>> answer;
  };
  Task<Result<>> ensure_process();
  Task<Result<wire::Frame>> ask(Question question);
  Task<Result<>> ask_once(const Question* question, Asked* asked);
  Task<void> supervise(Worker* process);
  void on_frame(wire::Frame frame);
  void on_nonsense(const Error& error);
  void on_lost(const ExitStatus& status);
  void settle(Result<wire::Frame> answer);

  World world_;
  const wire::FetchRules rules_;
  Notify changed_;
  Gate tasks_;
  std::unique_ptr<Worker> process_;
  Asked* asked_ = nullptr;
  std::uint64_t next_id_ = 1;
  int deaths_ = 0;
  bool ended_ = false;
};

}  // namespace hearth::front
