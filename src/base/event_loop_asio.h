// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/event_loop.h"

namespace boost::asio {
class io_context;
}

namespace hearth {

// The real event loop, over epoll by way of Asio. run() belongs to one thread; post() and stop()
// may be called from any.
class AsioEventLoop : public EventLoop {
 public:
  AsioEventLoop();
  ~AsioEventLoop() override;

  // Returns after stop(), or when nothing can happen any more.
  void run();
  void stop();

  // Calls `callback` on the loop each time one of `signals` arrives (SIGTERM, SIGINT, SIGHUP).
  void on_signals(std::initializer_list<int> signals, std::function<void(int)> callback);

  TimePoint now() const override;
  void post(Callback callback) override;
  TimerId call_at(TimePoint when, Callback callback) override;
  void cancel(TimerId timer) override;
  void when_readable(int fd, Callback callback) override;
  void when_writable(int fd, Callback callback) override;
  void forget(int fd) override;

  // For http/, which speaks Asio itself.
  boost::asio::io_context& context();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hearth
