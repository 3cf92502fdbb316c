// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "wire/blocking_channel.h"
#include "wire/frame.h"

namespace hearth::fetcher {

// Frames from the front, received on a thread of its own, so that the front's end is noticed in
// the middle of a download: the process then exits. Lives as long as the process.
class Inbox {
 public:
  explicit Inbox(wire::BlockingChannel& channel);
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  // Waits for the next one.
  wire::Frame next();

 private:
  [[noreturn]] void receive();

  wire::BlockingChannel& channel_;
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<wire::Frame> waiting_;  // under mutex_
};

}  // namespace hearth::fetcher
