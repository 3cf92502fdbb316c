// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/client.h"

namespace hearth::cli {

constexpr std::uint16_t kDefaultPort = 11435;

// The server as the verbs see it: JSON in, JSON out. An answer of 300 and above becomes an Error
// with the server's own message and a code that says what to do (kNotFound, kConflict, ...).
// kUnavailable means only one thing here: nobody answered, or the connection broke. Thread-safe.
class ApiClient {
 public:
  // "127.0.0.1:11435", "http://box:8080", "box". Errors: kInvalid.
  static Result<ApiClient> to(std::string_view host);

  Result<std::string> get(std::string target) const;
  Result<std::string> post(std::string target, std::string body) const;
  Result<std::string> remove(std::string target) const;

  // POST whose answer is handed over as it arrives; `on_bytes` returns false to hang up, which is
  // no error.
  Result<> stream(std::string target, std::string body,
                  const std::function<bool(std::string_view)>& on_bytes) const;

  // "127.0.0.1:11435"
  std::string address() const { return client_.address(); }

 private:
  explicit ApiClient(http::Client client) : client_{std::move(client)} {}

  Result<std::string> call(std::string method, std::string target, std::string body) const;
  Failed no_answer(const Error& cause) const;

  http::Client client_;
};

// The error that an answer stands for.
Error error_of(int status, std::string_view body);

// For one segment of a path.
std::string percent_encode(std::string_view text);

}  // namespace hearth::cli
