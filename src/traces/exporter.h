// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "base/pool.h"
#include "base/random.h"
#include "base/sync.h"
#include "timeline/report.h"
#include "timeline/trace_figures.h"
#include "traces/judgement.h"
#include "traces/otlp_json.h"
#include "traces/post.h"
#include "traces/settings.h"

namespace hearth::traces {

// Sends the traces of requests that have ended to a collector, in batches, one post after the
// other. A request never waits for that: encoding and sending is a thread's own, and what waits is
// bounded. While no collector answers, the latest kMostWaiting requests are kept.
//
// Belongs to the loop. stop() before destroying it, if it was started.
class Exporter {
 public:
  struct World {
    EventLoop& loop;
    Pool& pool;   // of one thread, which is the exporter's own
    Poster post;  // null: nothing is ever sent
    std::uint64_t seed = 0;
    std::string version{};
  };
  static constexpr std::size_t kMostWaiting = 1024;  // requests
  static constexpr std::size_t kLargestBatch = 64;
  static constexpr std::chrono::milliseconds kGather{1000};  // for a batch to grow
  static constexpr std::chrono::seconds kLastWords{3};

  explicit Exporter(World world);
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;

  // Holds from the next post on. Without an endpoint, what waits is dropped.
  void set(Settings settings);
  bool on() const { return world_.post && !settings_.endpoint.empty(); }

  void start();
  // Returns at once. Only reports whose trace is sampled are taken.
  void add(const RequestReport& report);
  // Sends what waits, unless the collector was not there the last time, and for no longer than
  // about kLastWords; a post that has begun may take its own time longer.
  Task<void> stop();

  TraceFigures figures() const;

 private:
  // Shared by the loop and the thread that sends it.
  struct Batch {
    std::vector<RequestReport> reports;
    std::string body;  // made of them by the first attempt
  };

  Task<void> run();
  Task<void> gather();
  Task<void> deliver(std::shared_ptr<Batch> batch);
  Task<void> pause(Duration length);
  void settle(const Judgement& judgement);
  Post next_post() const;
  std::shared_ptr<Batch> next_batch();
  void note_trouble(const std::string& reason);
  void note_success();
  TimePoint now() const { return world_.loop.now(); }

  World world_;
  Settings settings_;
  Resource resource_;
  Random random_;
  Random span_ids_;  // used on the pool only
  std::deque<RequestReport> waiting_;
  std::size_t in_hand_ = 0;  // requests of the batch that is being sent
  TraceFigures figures_;
  bool in_trouble_ = false;     // the last attempt went wrong
  bool some_rejected_ = false;  // of the last post
  bool stopping_ = false;
  TimePoint give_up_;      // once stopping_
  int settings_seen_ = 0;  // how often they were set
  Notify changed_;         // of waiting_, settings_ or stopping_
  Gate running_;
};

}  // namespace hearth::traces
