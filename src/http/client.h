// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/message.h"

namespace hearth::http {

// A blocking HTTP/1.1 client for the command line and for tests: one connection per call. Thread-safe.
class Client {
 public:
  // "http://127.0.0.1:11435", "127.0.0.1:11435", "myserver" (then with the default port).
  // Errors: kInvalid.
  static Result<Client> to(std::string_view url, std::uint16_t default_port);

  struct Call {
    std::string method = "GET";
    std::string target = "/";
    Headers headers;
    std::string body;
    std::chrono::seconds connect_timeout{5};
    std::chrono::seconds read_timeout{600};  // without a byte
  };

  // The whole answer. Errors: kUnavailable (refused, cut off, timed out), naming the address.
  Result<HttpResponse> call(const Call& call) const;

  // Hands the body over piece by piece as it arrives; `on_bytes` returns false to hang up, which is not
  // an error. The returned response has an empty body when its status was below 300; an error answer is
  // collected instead of handed over.
  Result<HttpResponse> stream(const Call& call,
                              const std::function<bool(std::string_view)>& on_bytes) const;

  const std::string& host() const { return host_; }
  std::uint16_t port() const { return port_; }

 private:
  Client(std::string host, std::uint16_t port) : host_{std::move(host)}, port_{port} {}

  std::string host_;
  std::uint16_t port_;
};

// Cuts a stream into lines, or server-sent events into their data; for the readers of stream().
class LineReader {
 public:
  explicit LineReader(std::function<void(std::string_view)> on_line) : on_line_{std::move(on_line)} {}
  void feed(std::string_view bytes);

 private:
  std::function<void(std::string_view)> on_line_;
  std::string pending_;
};

}  // namespace hearth::http
