// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/server_address.h"
#include "http/client.h"

namespace hearth::cli {

// The server as the verbs see it: JSON in, JSON out. An answer of 300 and above becomes an Error
// with the server's own message and a code that says what to do (kNotFound, kConflict, ...).
// kUnavailable means only one thing here: nobody answered, or the connection broke. Thread-safe.
class ApiClient {
 public:
  // Errors: kInvalid.
  static Result<ApiClient> to(ServerAddress address);

  Result<std::string> get(std::string target) const;
  Result<std::string> post(std::string target, std::string body, http::Headers headers = {}) const;
  Result<std::string> put(std::string target, std::string body) const;
  Result<std::string> remove(std::string target) const;

  // POST whose answer is handed over as it arrives; `on_bytes` returns false to hang up, which is
  // no error.
  Result<> stream(std::string target, std::string body,
                  const std::function<bool(std::string_view)>& on_bytes,
                  http::Headers headers = {}) const;

  // GET, likewise, of what goes on for as long as the server does. Given up (kUnavailable) when
  // nothing has come for three quarters of a minute, of which live events never rest more than a
  // quarter.
  Result<> follow(std::string target, const std::function<bool(std::string_view)>& on_bytes) const;

  // Shown with every call from now on. Errors: kInvalid, for characters that no key has.
  Result<> use_key(std::string key);

  // The same server, but given up after a moment: for what must not keep a shell waiting.
  ApiClient hurried() const;

  // "127.0.0.1:11435"
  std::string address() const { return address_.text(); }

 private:
  ApiClient(http::Client client, ServerAddress address)
      : client_{std::move(client)}, address_{std::move(address)} {}

  http::Client::Call request(std::string method, std::string target, std::string body) const;
  Result<std::string> call(const http::Client::Call& request) const;
  Failed no_answer(const Error& cause) const;
  Failed refusal(const http::Client::Call& request, const http::HttpResponse& response) const;

  http::Client client_;
  ServerAddress address_;
  std::string key_;  // empty: none
  bool hurried_ = false;
};

// The first of these that says something: `flag` (--key), HEARTH_API_KEY, and for a server that
// OLLAMA_HOST names, OLLAMA_API_KEY: that secret is for no other. Empty when none does.
std::string api_key(const std::string& flag, const ServerAddress& server,
                    const Environment& environment);

// The error that an answer stands for.
Error error_of(int status, std::string_view body);

// For one segment of a path.
std::string percent_encode(std::string_view text);

}  // namespace hearth::cli
