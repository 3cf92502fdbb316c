// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_set>

#include "base/async.h"
#include "base/sync.h"

namespace hearth::front {

// One thing that happened, as its subscribers get it: ready to send, serialised once for all.
struct LiveEvent {
  std::uint64_t id = 0;
  std::string type;  // "levels", "request", "progress", "model"; "lost" for a slow reader
  std::string data;  // JSON
};

// Live events for any number of readers on one loop. A subscriber that does not keep up loses the
// oldest events, and its next event is "lost" with their number: nobody's slowness costs memory.
class EventBus {
 public:
  explicit EventBus(EventLoop& loop) : loop_{loop} {}

  void publish(std::string type, std::string data);

  class Subscription {
   public:
    explicit Subscription(EventBus& bus);
    ~Subscription();
    Subscription(const Subscription&) = delete;
    Subscription& operator=(const Subscription&) = delete;

    // Null when nothing came until `deadline` (time for a keep-alive comment), or once close() was
    // called; closed() tells which.
    Task<std::shared_ptr<const LiveEvent>> next(TimePoint deadline);
    void close();
    bool closed() const { return closed_; }

   private:
    friend class EventBus;
    EventBus& bus_;
    // shared_ptr: every subscriber's queue holds the same event until the last one has sent it.
    std::deque<std::shared_ptr<const LiveEvent>> pending_;
    std::uint64_t lost_ = 0;
    Notify arrived_;
    bool closed_ = false;
  };

  std::size_t subscribers() const { return subscriptions_.size(); }

  // Ends every subscription, for a server that stops.
  void close_all();

  static constexpr std::size_t kMaxPending = 256;

 private:
  EventLoop& loop_;
  std::uint64_t next_id_ = 1;
  std::unordered_set<Subscription*> subscriptions_;
};

}  // namespace hearth::front
