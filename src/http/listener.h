// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>
#include <string>

#include "base/event_loop_asio.h"
#include "base/fd.h"
#include "base/result.h"
#include "http/address.h"

namespace hearth::http {

// A listening TCP socket. When the process runs out of descriptors or memory it pauses for a moment
// and tries again; connections wait in the kernel meanwhile.
//
// Belongs to the loop. Shared by the server and by the wait it has pending in Asio.
class Listener : public std::enable_shared_from_this<Listener> {
 public:
  // `peer` is where the connection comes from; `socket` is non-blocking.
  using OnAccept = std::function<void(Fd socket, const Address& peer)>;

  // Errors: kConflict when the address is in use, kInvalid when it cannot be resolved or is not
  // this machine's, kUnavailable otherwise.
  static Result<std::shared_ptr<Listener>> bind(AsioEventLoop& loop, const std::string& host,
                                                std::uint16_t port);

  Listener(AsioEventLoop& loop, Fd socket);

  // Calls `on_accept` for each connection until close().
  void start(OnAccept on_accept);
  void close();

  const Address& address() const { return address_; }

 private:
  void watch();
  void accept_all();
  void pause(int error);

  AsioEventLoop& loop_;
  boost::asio::posix::stream_descriptor socket_;
  Address address_;
  OnAccept on_accept_;
  bool closed_ = false;
};

}  // namespace hearth::http
