// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/event_loop.h"
#include "base/pool.h"
#include "base/process.h"
#include "base/result.h"
#include "wire/frame.h"
#include "wire/frame_buffer.h"

namespace hearth::front {

// One worker process and our end of its socket, from spawn to reaping. It knows frames, not models:
// what they mean is ModelHost's. Belongs to the loop.
class Worker {
 public:
  // Called for each frame that arrives, in order.
  using OnFrame = std::function<void(wire::Frame)>;

  Worker(EventLoop& loop, Pool& pool, std::unique_ptr<Process> process, OnFrame on_frame);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  int pid() const { return process_->pid(); }
  TimePoint started() const { return started_; }

  // Queues `frame`; never blocks. After the worker has died it does nothing.
  void send(wire::Frame frame);

  // Reads frames until the worker closes its socket, sends nonsense or is killed; then reaps it.
  // The object must outlive this task, which ends soon after kill() or close().
  Task<ExitStatus> run();

  // The worker leaves by itself on end of file, within its grace; else it is killed.
  void close();

  // SIGKILL now. `why` ends up in death_note().
  void kill(std::string why);
  // The same for one that is not needed any more and has nothing to lose: not worth a warning.
  void end();

  // Why we killed it or stopped listening; empty when it died by itself.
  const std::string& death_note() const { return death_note_; }
  bool closing() const { return closing_; }

 private:
  struct Outgoing {
    std::string bytes;
    std::vector<Fd> descriptors;
    std::size_t sent = 0;
  };

  void flush();
  bool read_available();  // false at the end of the socket
  bool deliver_frames();

  EventLoop& loop_;
  Pool& pool_;
  std::unique_ptr<Process> process_;
  OnFrame on_frame_;
  const TimePoint started_;
  const int socket_;
  wire::FrameBuffer incoming_;
  std::deque<Outgoing> outgoing_;
  bool awaiting_writable_ = false;
  bool dead_ = false;
  bool closing_ = false;
  EventLoop::TimerId leave_timer_ = 0;  // from close() on
  std::string death_note_;
};

}  // namespace hearth::front
