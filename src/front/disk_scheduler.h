// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/sync.h"
#include "front/load_plan.h"
#include "layers/pages/read_guide.h"

namespace hearth::front {

// Lets one reader at a time at each device that is slower when two read at once. Requests go before
// warm-ups, otherwise first come, first served; a warm-up that reads is told when a request waits.
// Who reads from a device that takes many does not ask. Belongs to the loop, and outlives its
// tickets.
class DiskScheduler {
 public:
  enum class Urgency { kRequest, kWarmUp };

  struct Claim {
    Urgency urgency = Urgency::kRequest;
    // Whether to give up waiting; asked after every change and poke().
    std::function<bool()> cancelled = [] { return false; };
    // Set once a request waits behind this warm-up; may be null.
    std::shared_ptr<std::atomic<bool>> give_way = {};
  };

  // Leave to read from some devices.
  class Tickets : public DiskTicket, public ReadLeave {
   public:
    explicit Tickets(DiskScheduler& scheduler) : scheduler_{scheduler} {}
    ~Tickets() override;
    Tickets(const Tickets&) = delete;
    Tickets& operator=(const Tickets&) = delete;

   private:
    friend class DiskScheduler;
    DiskScheduler& scheduler_;
    std::vector<std::string> devices_;
  };

  explicit DiskScheduler(EventLoop& loop) : changed_{loop} {}

  // Waits for all of them. Null once cancelled.
  Task<std::unique_ptr<Tickets>> enter(std::set<std::string> devices, Claim claim);

  // Lets cancelled waiters notice.
  void poke() { changed_.notify_all(); }

  bool busy(const std::string& device) const;
  int waiting(const std::string& device) const;

 private:
  struct Waiter {
    std::uint64_t number;
    Urgency urgency;
  };
  struct Line {
    bool held = false;
    Claim holder;
    std::list<Waiter> waiters;  // requests first
  };

  Task<bool> enter_one(std::string device, Claim claim);
  void leave(const std::string& device);
  static void stand_in_line(Line& line, Waiter waiter);

  Notify changed_;
  std::map<std::string, Line> lines_;  // of devices that somebody reads from or waits for
  std::uint64_t next_ = 1;
};

}  // namespace hearth::front
