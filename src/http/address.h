// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace hearth::http {

// A numeric socket address.
struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  std::uint16_t port() const;
  std::string host() const;  // without port and brackets
  bool is_loopback() const;

  // What one customer of a provider is given: an IPv4 address, of IPv6 the first 64 bits
  // ("2001:db8::/64").
  std::string network() const;
  std::string text() const;  // "127.0.0.1:80", "[::1]:80"; IPv4 mapped into IPv6 shows as IPv4
};

// "host:port", with brackets around an IPv6 host.
std::string join_host_port(const std::string& host, std::uint16_t port);

// The addresses of a name or a literal, in order of preference. Blocks as long as the resolver
// does. Errors: kInvalid, "resolve myserver: …".
Result<std::vector<Address>> resolve(const std::string& host, std::uint16_t port);

}  // namespace hearth::http
