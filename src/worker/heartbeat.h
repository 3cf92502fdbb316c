// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "worker/cpu_share.h"
#include "worker/gauges.h"
#include "worker/replies.h"

namespace hearth::worker {

// One heartbeat, now: for when a figure has just changed a lot. Any thread.
void send_heartbeat(Replies& replies, const Gauges& gauges);

// Tells the front twice a second that the process lives, from a thread that nothing else can hold
// up, and looks as often at who has the CPUs.
class Heartbeat {
 public:
  Heartbeat(Replies& replies, const Gauges& gauges, CpuShare& cpu);
  ~Heartbeat();

 private:
  void run();

  Replies& replies_;
  const Gauges& gauges_;
  CpuShare& cpu_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace hearth::worker
