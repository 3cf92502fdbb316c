// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "cli/terminal.h"

namespace hearth::cli {

constexpr std::uint16_t kDefaultPort = 11435;

// Where the server is, and who says so.
struct ServerAddress {
  std::string host = "127.0.0.1";  // a name or a literal, IPv6 without brackets
  std::uint16_t port = kDefaultPort;
  std::string prefix{};  // of all paths, "/box"; empty for most
  std::string origin{};  // "OLLAMA_HOST=0.0.0.0"; empty for the default

  std::string text() const;  // "127.0.0.1:11435", "[::1]:11435"

  bool is_from_ollama_host() const;

  // `hearth serve` with what makes a server answer here; empty when that would be another machine.
  std::string start_command() const;
};

// The first of these that says something: `flag` (--host), HEARTH_HOST, OLLAMA_HOST, the default.
// Forms: "box", "box:8080", ":8080", "::1", "[::1]:8080", "http://box:8080/path". What a server
// binds to everywhere (0.0.0.0, [::]) is loopback for a client. Without a port: 11435, but in
// OLLAMA_HOST what Ollama takes it for, 11434, and 80 after "http://".
// Errors: kInvalid, naming the origin.
Result<ServerAddress> server_address(const std::string& flag, const Environment& environment);

}  // namespace hearth::cli
