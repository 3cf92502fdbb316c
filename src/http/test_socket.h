// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/fd.h"
#include "http/response_parser.h"

namespace hearth::http {

// A plain blocking socket for tests that need to send what no client would. Every wait gives up
// after ten seconds, so that a broken server fails its test instead of hanging it.
class TestSocket {
 public:
  explicit TestSocket(std::uint16_t port, int receive_buffer = 0)
      : fd_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    const timeval guard{10, 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &guard, sizeof guard);
    if (receive_buffer > 0) {
      ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int connected =
        ::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    EXPECT_EQ(connected, 0);
  }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }

  // What the kernel takes of `bytes` at once.
  std::size_t offer(std::string_view bytes) {
    const ssize_t n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return n > 0 ? static_cast<std::size_t>(n) : 0;
  }

  void get(std::string_view target) {
    send("GET " + std::string{target} + " HTTP/1.1\r\nHost: test\r\n\r\n");
  }

  // Reads until `marker` has come and returns everything up to its end; less at the end of the
  // stream.
  std::string read_until(std::string_view marker) {
    std::size_t found = pending_.find(marker);
    while (found == std::string::npos && receive()) found = pending_.find(marker);
    if (found == std::string::npos) return std::exchange(pending_, std::string{});
    const std::string result = pending_.substr(0, found + marker.size());
    pending_.erase(0, result.size());
    return result;
  }

  // Everything up to the end of the stream.
  std::string read_all() {
    while (receive()) {
    }
    return std::exchange(pending_, std::string{});
  }

  // The next whole answer. A status of 0 stands for one that was cut off.
  HttpResponse answer(ResponseParser::Body body = ResponseParser::Body::kExpected) {
    ResponseParser parser{body};
    while (true) {
      const Result<std::size_t> used = parser.feed(pending_);
      if (!used) break;
      pending_.erase(0, *used);
      if (parser.done()) return finished(parser);
      if (receive()) continue;
      if (parser.feed_end()) return finished(parser);
      break;
    }
    HttpResponse cut_off;
    cut_off.status = 0;
    return cut_off;
  }

  // True once something has come, be it the end of the stream.
  bool readable() const {
    pollfd what{fd_.get(), POLLIN, 0};
    return ::poll(&what, 1, 0) > 0;
  }

  bool at_end() { return pending_.empty() && !receive(); }

  // Closes only the sending half.
  void half_close() { ::shutdown(fd_.get(), SHUT_WR); }
  void close() { fd_.reset(); }

  // Closes with a reset, as a killed client with unread data does.
  void reset() {
    const linger now{1, 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
    fd_.reset();
  }

 private:
  static HttpResponse finished(ResponseParser& parser) {
    HttpResponse response = parser.head();
    response.body = parser.take_body();
    return response;
  }

  bool receive() {
    char chunk[16 << 10];
    const ssize_t n = ::recv(fd_.get(), chunk, sizeof chunk, 0);
    if (n <= 0) return false;
    pending_.append(chunk, static_cast<std::size_t>(n));
    return true;
  }

  Fd fd_;
  std::string pending_;
};

}  // namespace hearth::http
