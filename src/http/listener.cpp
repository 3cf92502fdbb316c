// SPDX-License-Identifier: Apache-2.0
#include "http/listener.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/log.h"

namespace hearth::http {
namespace {

constexpr std::chrono::milliseconds kPause{100};

// A crowd that comes at once must not hold up those who are there.
constexpr int kAcceptsPerTurn = 16;

void set_option(int socket, int level, int name, int value) {
  ::setsockopt(socket, level, name, &value, sizeof value);
}

Failed cannot_listen(const Address& address, int error) {
  ErrorCode code = ErrorCode::kUnavailable;
  if (error == EADDRINUSE) code = ErrorCode::kConflict;
  if (error == EADDRNOTAVAIL) code = ErrorCode::kInvalid;
  return fail(code, "listen on " + address.text() + ": " + std::strerror(error));
}

Result<Fd> listen_on(const Address& address) {
  const int family = address.storage.ss_family;
  Fd socket{::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (!socket) return cannot_listen(address, errno);
  set_option(socket.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (family == AF_INET6) set_option(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (::bind(socket.get(), address.get(), address.length) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0) {
    return cannot_listen(address, errno);
  }
  return socket;
}

// Answers are small and wanted at once; a client whose machine vanished is found within two
// minutes.
void tune(int socket) {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, 60);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, 15);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 4);
}

bool is_exhaustion(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace

Result<std::shared_ptr<Listener>> Listener::bind(AsioEventLoop& loop, const std::string& host,
                                                 std::uint16_t port) {
  const Result<std::vector<Address>> addresses = resolve(host, port);
  if (!addresses) return Failed{addresses.error()};
  Result<Fd> socket = fail(ErrorCode::kInvalid, "resolve " + host + ": no address");
  for (const Address& address : *addresses) {
    socket = listen_on(address);
    if (socket) return std::make_shared<Listener>(loop, *std::move(socket));
  }
  return Failed{socket.error()};
}

Listener::Listener(AsioEventLoop& loop, Fd socket)
    : loop_{loop}, socket_{loop.context(), socket.release()} {
  address_.length = sizeof address_.storage;
  ::getsockname(socket_.native_handle(), address_.get(), &address_.length);
}

void Listener::start(OnAccept on_accept) {
  on_accept_ = std::move(on_accept);
  watch();
}

void Listener::close() {
  if (std::exchange(closed_, true)) return;
  boost::system::error_code ignored;
  socket_.close(ignored);
}

void Listener::watch() {
  if (closed_) return;
  socket_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       if (!error && !self->closed_) self->accept_all();
                     });
}

void Listener::accept_all() {
  for (int n = 0; n < kAcceptsPerTurn && !closed_; ++n) {
    Address peer;
    peer.length = sizeof peer.storage;
    Fd socket{
        ::accept4(socket_.native_handle(), peer.get(), &peer.length, SOCK_NONBLOCK | SOCK_CLOEXEC)};
    if (socket) {
      tune(socket.get());
      on_accept_(std::move(socket), peer);
    } else if (is_exhaustion(errno)) {
      return pause(errno);
    } else if (errno == EAGAIN) {
      return watch();
    }
    // Anything else concerns one connection that is gone already.
  }
  watch();
}

void Listener::pause(int error) {
  log::warn("http.accept_paused", {{"address", address_.text()}, {"cause", std::strerror(error)}});
  loop_.call_at(loop_.now() + kPause, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->accept_all();
  });
}

}  // namespace hearth::http
