// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/event_loop.h"

namespace hearth::cli {

// Tells systemd, or whoever else speaks sd_notify's protocol, how the server is: ready, alive,
// stopping. Without NOTIFY_SOCKET in `environment` it says nothing. Messages that the manager does
// not take at once are dropped: the loop must not wait for it.
//
// Lives on the loop's thread. The loop must outlive it.
class ServiceManager {
 public:
  ServiceManager(EventLoop& loop, const std::map<std::string, std::string>& environment);
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;
  ~ServiceManager();

  // Once, when requests are served. From then on the watchdog is fed from the loop, twice in the
  // interval that the manager asks for, so that it starves when the loop hangs.
  void ready(const std::string& status);

  // When the end begins. The watchdog is fed until the object is gone.
  void stopping();

  // How long the manager waits for a sign of life; none when it does not watch this process.
  std::optional<Duration> watchdog() const { return watchdog_; }

 private:
  void say(const std::string& message) const;
  void feed();

  EventLoop& loop_;
  std::string socket_;
  std::optional<Duration> watchdog_;
  std::optional<EventLoop::TimerId> next_feed_;
};

}  // namespace hearth::cli
