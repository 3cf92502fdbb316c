// SPDX-License-Identifier: Apache-2.0
#include "http/connection.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "base/log.h"

namespace hearth::http {
namespace {

using boost::asio::posix::stream_descriptor;

// How much of what comes after the current request is read while that is being answered. Beyond it
// reading pauses, and with it the watch for a client that leaves.
constexpr std::size_t kReadAhead = 64 << 10;

// Input buffers larger than this are given back as soon as they are empty.
constexpr std::size_t kKeptBuffer = 1 << 10;

void resume(std::coroutine_handle<>& waiting) { std::exchange(waiting, {}).resume(); }

}  // namespace

Connection::Connection(AsioEventLoop& loop, Fd socket, std::string peer, std::span<char> scratch)
    : loop_{loop},
      socket_{loop.context(), socket.release()},
      timer_{loop.context()},
      peer_{std::move(peer)},
      scratch_{scratch} {}

void Connection::consume(std::size_t n) {
  input_.erase(0, n);
  arrival_ = last_arrival_;
  if (input_.empty() && input_.capacity() > kKeptBuffer) input_ = std::string{};
  watch();
}

void Connection::wait_for_input(std::coroutine_handle<> handle, TimePoint deadline) {
  reader_ = handle;
  timed_out_ = false;
  set_deadline(deadline);
  watch();
}

Connection::Arrival Connection::take_arrival() {
  deadline_ = TimePoint::max();
  if (std::exchange(timed_out_, false)) return Arrival::kTimedOut;
  return gone() ? Arrival::kClosed : Arrival::kBytes;
}

void Connection::watch() {
  const bool room = reader_ || input_.size() < kReadAhead;
  if (watching_ || closed_ || peer_closed_ || !room) return;
  watching_ = true;
  socket_.async_wait(stream_descriptor::wait_read,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       self->watching_ = false;
                       if (!error && !self->closed_) self->on_readable();
                     });
}

void Connection::on_readable() {
  const ssize_t n = ::recv(socket_.native_handle(), scratch_.data(), scratch_.size(), 0);
  if (n > 0) {
    last_arrival_ = loop_.now();
    if (input_.empty()) arrival_ = last_arrival_;
    input_.append(scratch_.data(), static_cast<std::size_t>(n));
    if (reader_) resume(reader_);
  } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
    on_peer_closed();
  }
  watch();
}

void Connection::on_peer_closed() {
  peer_closed_ = true;
  if (in_exchange_) cut();
  if (reader_) resume(reader_);
}

void Connection::begin_exchange() {
  in_exchange_ = true;
  if (peer_closed_) cut();
}

void Connection::end_exchange() {
  in_exchange_ = false;
  gone_callback_ = nullptr;
}

void Connection::on_gone(std::function<void()> callback) {
  gone_callback_ = std::move(callback);
  if (!gone() || !gone_callback_) return;
  loop_.post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->tell_gone();
  });
}

void Connection::tell_gone() {
  if (!gone_callback_) return;
  const std::function<void()> callback = std::exchange(gone_callback_, nullptr);
  callback();
}

void Connection::cut() {
  if (cut_ || closed_) return;
  cut_ = true;
  ::shutdown(socket_.native_handle(), SHUT_RDWR);
  if (in_exchange_) tell_gone();
}

void Connection::finish_sending() {
  if (!closed_) ::shutdown(socket_.native_handle(), SHUT_WR);
}

void Connection::close() {
  closed_ = true;
  timer_.cancel();
  boost::system::error_code ignored;
  socket_.close(ignored);
}

Task<bool> Connection::send(std::string bytes, std::chrono::milliseconds stall_limit) {
  if (!held_.empty()) {
    bytes.insert(0, held_);
    held_ = std::string{};
  }
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    if (cut_) co_return false;
    const ssize_t n = ::send(socket_.native_handle(), bytes.data() + sent, bytes.size() - sent,
                             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
      sent += static_cast<std::size_t>(n);
    } else if (errno == EAGAIN) {
      co_await writable(stall_limit);
    } else if (errno != EINTR) {
      cut();
    }
  }
  co_return !cut_;
}

void Connection::send_soon(std::string bytes) {
  held_ += bytes;
  if (std::exchange(flush_posted_, true)) return;
  loop_.post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->flush_held();
  });
}

// What the socket does not take here stays for the next send().
void Connection::flush_held() {
  flush_posted_ = false;
  if (held_.empty() || cut_ || closed_) return;
  const ssize_t n =
      ::send(socket_.native_handle(), held_.data(), held_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n > 0) held_.erase(0, static_cast<std::size_t>(n));
  if (held_.empty()) held_ = std::string{};
}

void Connection::wait_until_writable(std::coroutine_handle<> handle,
                                     std::chrono::milliseconds stall_limit) {
  writer_ = handle;
  stall_limit_ = stall_limit;
  unsent_before_ = unsent();
  set_deadline(loop_.now() + stall_limit);
  socket_.async_wait(stream_descriptor::wait_write,
                     [self = shared_from_this()](const boost::system::error_code&) {
                       self->deadline_ = TimePoint::max();
                       resume(self->writer_);
                     });
}

bool Connection::has_unread() const {
  int bytes = 0;
  ::ioctl(const_cast<stream_descriptor&>(socket_).native_handle(), FIONREAD, &bytes);
  return bytes > 0 || !input_.empty();
}

int Connection::unsent() const {
  int bytes = 0;
  ::ioctl(const_cast<stream_descriptor&>(socket_).native_handle(), SIOCOUTQ, &bytes);
  return bytes;
}

void Connection::set_deadline(TimePoint deadline) {
  deadline_ = deadline;
  if (deadline < timer_at_) arm_timer(deadline);
}

void Connection::arm_timer(TimePoint at) {
  timer_at_ = at;
  timer_.expires_at(at);
  timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (!error) self->on_timer();
  });
}

// Runs too early when the deadline was put off: moving it is cheaper than moving the timer.
void Connection::on_timer() {
  timer_at_ = TimePoint::max();
  if (closed_ || deadline_ == TimePoint::max()) return;
  if (loop_.now() < deadline_) return arm_timer(deadline_);
  deadline_ = TimePoint::max();
  if (writer_) {
    // The socket turns writable only when a good part of its buffer is free; a slow reader that
    // takes anything at all is not stalled.
    const int unsent_now = unsent();
    if (std::exchange(unsent_before_, unsent_now) > unsent_now) {
      return set_deadline(loop_.now() + stall_limit_);
    }
    log::info("http.client_stalled", {{"peer", peer_}, {"unsent_bytes", unsent_now}});
    cut();
  } else if (reader_) {
    timed_out_ = true;
    resume(reader_);
  }
}

}  // namespace hearth::http
