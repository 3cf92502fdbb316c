// SPDX-License-Identifier: Apache-2.0
#include "worker/heartbeat.h"

#include <chrono>

#include "worker/self_stats.h"

namespace hearth::worker {
namespace {

constexpr std::chrono::milliseconds kBetweenBeats{500};

}  // namespace

void send_heartbeat(Replies& replies, const Gauges& gauges) {
  wire::HeartbeatMessage message;
  message.steps = gauges.steps.load(std::memory_order_relaxed);
  message.active = gauges.active.load(std::memory_order_relaxed);
  message.live_tokens = gauges.live_tokens.load(std::memory_order_relaxed);
  message.threads = gauges.threads.load(std::memory_order_relaxed);
  message.slots = gauges.slots();
  const Resident resident = resident_now();
  message.resident = resident.all;
  message.anonymous = resident.anonymous;
  message.swapped = resident.swapped;
  message.mapped = resident.mapped;
  replies.send(wire::FrameType::kHeartbeat, 0, message);
}

Heartbeat::Heartbeat(Replies& replies, const Gauges& gauges, CpuShare& cpu)
    : replies_{replies}, gauges_{gauges}, cpu_{cpu}, thread_{[this] { run(); }} {}

Heartbeat::~Heartbeat() {
  {
    std::lock_guard lock{mutex_};
    stop_ = true;
  }
  stopped_.notify_all();
  thread_.join();
}

void Heartbeat::run() {
  std::unique_lock lock{mutex_};
  while (!stopped_.wait_for(lock, kBetweenBeats, [this] { return stop_; })) {
    cpu_.look();
    send_heartbeat(replies_, gauges_);
  }
}

}  // namespace hearth::worker
