// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/line_reader.h"
#include "http/message.h"

namespace hearth::http {

// A blocking HTTP/1.1 client for the command line and for tests: one connection per call.
// Thread-safe.
class Client {
 public:
  // "http://127.0.0.1:11435", "127.0.0.1:11435", "[::1]:11435", "myserver" (then with the default
  // port). No path, no https.
  // Errors: kInvalid.
  static Result<Client> to(std::string_view url, std::uint16_t default_port);

  struct Call {
    std::string method = "GET";
    std::string target = "/";  // path and query as they go over the wire
    Headers headers;           // Host, Connection and Content-Length are added
    std::string body;
    std::chrono::milliseconds connect_timeout = std::chrono::seconds{5};
    std::chrono::milliseconds read_timeout = std::chrono::seconds{600};  // without a byte
  };

  // The whole answer, whatever its status. Errors: kUnavailable (refused, cut off, timed out, not
  // HTTP), naming the address: "connect to 127.0.0.1:11435: Connection refused".
  Result<HttpResponse> call(const Call& call) const;

  // Hands the body over piece by piece as it arrives; `on_bytes` returns false to hang up, which is
  // not an error. The returned response has an empty body when its status was below 300; an error
  // answer is collected instead of handed over. Errors: as call().
  Result<HttpResponse> stream(const Call& call,
                              const std::function<bool(std::string_view)>& on_bytes) const;

  const std::string& host() const { return host_; }
  std::uint16_t port() const { return port_; }
  std::string address() const;  // "127.0.0.1:11435"

 private:
  Client(std::string host, std::uint16_t port) : host_{std::move(host)}, port_{port} {}

  std::string host_;
  std::uint16_t port_;
};

}  // namespace hearth::http
