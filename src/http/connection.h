// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <coroutine>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/async.h"
#include "base/clock.h"
#include "base/event_loop_asio.h"
#include "base/fd.h"

namespace hearth::http {

// One accepted socket. It is read from all the time, also while a handler works, into a buffer that
// grows only by what the client really sent: that is how a client that leaves is noticed at once
// and how a pipelined request waits its turn. What has been received lies in input() until
// consume().
//
// Belongs to the loop. Shared by its session and by the callbacks it has pending in Asio, which
// still run once after close().
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  enum class Arrival { kBytes, kClosed, kTimedOut };

  // Reads go through `scratch`, which all connections of a server share (and outlives them), so
  // that an idle one holds no buffer. `socket` must be non-blocking.
  Connection(AsioEventLoop& loop, Fd socket, std::string peer, std::span<char> scratch);

  const std::string& peer() const { return peer_; }

  // Begins to read. Once.
  void start() { watch(); }

  std::string_view input() const { return input_; }
  void consume(std::size_t n);

  // True when the client has sent something that no request has used up yet.
  bool has_unread() const;

  // When the first byte of input() was read.
  TimePoint arrival() const { return arrival_; }

  // co_await more_input(t): waits for bytes that input() does not hold yet. kClosed is final.
  auto more_input(TimePoint deadline) { return InputAwaiter{*this, deadline}; }

  // Sends all of `bytes`, behind what send_soon() holds. False once the connection is cut, which it
  // is when the client takes nothing for `stall_limit`.
  Task<bool> send(std::string bytes, std::chrono::milliseconds stall_limit);

  // Goes out in front of the next send(), or by itself in the loop's next turn.
  void send_soon(std::string bytes);

  // From begin_exchange() to end_exchange() somebody works for this client: if it leaves (or closes
  // just its sending half) the connection is cut and the callback runs, at most once. One that is
  // set too late runs in the loop's next turn.
  void begin_exchange();
  void end_exchange();
  void on_gone(std::function<void()> callback);
  bool gone() const { return peer_closed_ || cut_; }

  // Between two requests, or after the last: nothing is lost by cutting it now.
  bool idle() const { return idle_; }
  void become_idle() { idle_ = true; }
  void become_busy() { idle_ = false; }

  // Ends both directions; whatever waits on the connection wakes up and finds it gone.
  void cut();

  // Tells the client that nothing more will come.
  void finish_sending();

  // Frees the descriptor. Nothing may be waiting.
  void close();

 private:
  struct InputAwaiter {
    Connection& connection;
    TimePoint deadline;
    bool await_ready() const noexcept { return connection.gone(); }
    void await_suspend(std::coroutine_handle<> handle) {
      connection.wait_for_input(handle, deadline);
    }
    Arrival await_resume() const noexcept { return connection.take_arrival(); }
  };

  struct WritableAwaiter {
    Connection& connection;
    std::chrono::milliseconds stall_limit;
    bool await_ready() const noexcept { return connection.cut_; }
    void await_suspend(std::coroutine_handle<> handle) {
      connection.wait_until_writable(handle, stall_limit);
    }
    void await_resume() const noexcept {}
  };

  auto writable(std::chrono::milliseconds stall_limit) {
    return WritableAwaiter{*this, stall_limit};
  }

  void wait_for_input(std::coroutine_handle<> handle, TimePoint deadline);
  void wait_until_writable(std::coroutine_handle<> handle, std::chrono::milliseconds stall_limit);
  Arrival take_arrival();

  void watch();
  void on_readable();
  void on_peer_closed();
  void tell_gone();
  void flush_held();
  void set_deadline(TimePoint deadline);
  void arm_timer(TimePoint at);
  void on_timer();
  int unsent() const;

  AsioEventLoop& loop_;
  boost::asio::posix::stream_descriptor socket_;
  boost::asio::steady_timer timer_;
  std::string peer_;
  std::span<char> scratch_;

  std::string input_;
  TimePoint arrival_{};
  TimePoint last_arrival_{};
  std::string held_;

  // One deadline is enough: a session reads or writes, never both.
  TimePoint deadline_ = TimePoint::max();
  TimePoint timer_at_ = TimePoint::max();

  std::coroutine_handle<> reader_;
  std::coroutine_handle<> writer_;
  std::chrono::milliseconds stall_limit_{};
  int unsent_before_ = 0;
  std::function<void()> gone_callback_;

  bool watching_ = false;
  bool timed_out_ = false;
  bool peer_closed_ = false;
  bool cut_ = false;
  bool closed_ = false;
  bool idle_ = true;
  bool in_exchange_ = false;
  bool flush_posted_ = false;
};

}  // namespace hearth::http
