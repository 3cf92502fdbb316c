// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/fd.h"
#include "http/client.h"

namespace hearth::lab {

// For tests: a server that says whatever its handler wants, byte for byte, to one client after the
// other. The connection is closed when the handler returns.
class FakeServer {
 public:
  class Connection {
   public:
    explicit Connection(Fd socket) : socket_{std::move(socket)} {}
    void send(std::string_view bytes) const {
      ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
    // Returns when the client has hung up.
    void wait_for_end() const {
      char ignored[64];
      while (::recv(socket_.get(), ignored, sizeof ignored, 0) > 0) {
      }
    }
    // The head and the body.
    std::string request() const {
      std::string text;
      while (!is_whole(text)) {
        char piece[4096];
        const ssize_t n = ::recv(socket_.get(), piece, sizeof piece, 0);
        if (n <= 0) break;
        text.append(piece, static_cast<std::size_t>(n));
      }
      return text;
    }

   private:
    static bool is_whole(const std::string& text) {
      const std::size_t end = text.find("\r\n\r\n");
      if (end == std::string::npos) return false;
      const std::size_t field = text.find("Content-Length: ");
      const std::size_t length =
          field < end ? static_cast<std::size_t>(std::atoll(text.c_str() + field + 16)) : 0;
      return text.size() >= end + 4 + length;
    }

    Fd socket_;
  };
  using Handler = std::function<void(const std::string& request, const Connection& connection)>;

  explicit FakeServer(Handler handler)
      : handler_{std::move(handler)}, listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_.get(), 16), 0);
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread{[this](const std::stop_token& stop) { serve(stop); }};
  }

  std::uint16_t port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  http::Client client() const { return *http::Client::to(url(), 80); }

  // An answer of a known length.
  static std::string answer(const std::string& status, const std::string& body) {
    return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
  }
  // The beginning of one that ends with its connection.
  static constexpr const char* kStream = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";

 private:
  void serve(const std::stop_token& stop) const {
    while (!stop.stop_requested()) {
      pollfd entry{listener_.get(), POLLIN, 0};
      if (::poll(&entry, 1, 20) <= 0) continue;
      const Connection connection{Fd{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)}};
      handler_(connection.request(), connection);
    }
  }

  Handler handler_;
  Fd listener_;
  std::uint16_t port_ = 0;
  std::jthread thread_;
};

}  // namespace hearth::lab
