// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <functional>
#include <memory>
#include <vector>

#include "base/sim_event_loop.h"
#include "front/testing/scripted_worker.h"

namespace hearth::front::testing {

// A scripted worker without a thread, for a SimEventLoop: it answers when it is told to look.
class SimProcess : public Process {
 public:
  explicit SimProcess(Script script) : script_{std::move(script)} {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    ours_ = Fd{ends[0]};
    theirs_ = Fd{ends[1]};
    channel_ = std::make_unique<wire::BlockingChannel>(theirs_.get());
  }

  pid_t pid() const override { return 4242; }
  int pidfd() const override { return -1; }
  int control() const override { return ours_.get(); }
  void kill() override { theirs_.reset(); }
  ExitStatus stop(std::chrono::milliseconds) override {
    theirs_.reset();
    ours_.reset();
    return {};
  }

  // Takes all frames that are there; false when there was none.
  bool look() {
    bool any = false;
    while (theirs_ && readable(theirs_.get())) {
      Result<wire::Frame> frame = channel_->receive();
      any = true;
      if (!frame || !script_(*channel_, *frame)) theirs_.reset();
    }
    return any;
  }
  bool has_answered() const { return ours_ && readable(ours_.get()); }

 private:
  static bool readable(int fd) {
    pollfd waited{fd, POLLIN, 0};
    return ::poll(&waited, 1, 0) > 0;
  }

  Script script_;
  Fd ours_;
  Fd theirs_;
  std::unique_ptr<wire::BlockingChannel> channel_;
};

class SimProcesses : public Processes {
 public:
  SimProcesses(SimEventLoop& loop, Script script) : loop_{loop}, script_{std::move(script)} {}

  Result<std::unique_ptr<Process>> spawn(const ProcessSpec&) override {
    auto process = std::make_unique<Watched>(script_, living_);
    return std::unique_ptr<Process>{std::move(process)};
  }

  // Runs loop and workers until neither has anything to do at this moment.
  void settle() {
    for (bool busy = true; busy;) {
      loop_.run_ready();
      busy = false;
      for (SimProcess* process : std::vector<SimProcess*>{living_}) {
        busy = process->look() || busy;
        if (!process->has_answered()) continue;
        loop_.make_readable(process->control());
        busy = true;
      }
    }
  }

  // Time passes; workers answer at once.
  void pass(Duration time) {
    constexpr Duration kStep = std::chrono::milliseconds{500};
    for (; time > kStep; time -= kStep) {
      loop_.run_for(kStep);
      settle();
    }
    loop_.run_for(time);
    settle();
  }

 private:
  class Watched : public SimProcess {
   public:
    Watched(Script script, std::vector<SimProcess*>& living)
        : SimProcess{std::move(script)}, living_{living} {
      living_.push_back(this);
    }
    ~Watched() override { std::erase(living_, this); }
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

   private:
    std::vector<SimProcess*>& living_;
  };

  SimEventLoop& loop_;
  Script script_;
  std::vector<SimProcess*> living_;
};

}  // namespace hearth::front::testing
