// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hearth::fetcher {

// An IPv4 or IPv6 address; a value, 16 bytes, of which IPv4 uses the IPv4-mapped form.
class Address {
 public:
  // As written in numbers only ("10.0.0.1", "fe80::1"); no brackets, no zone.
  static std::optional<Address> parse(std::string_view text);
  // Of AF_INET and AF_INET6.
  static std::optional<Address> of(const sockaddr& address);

  // Whether it can only be a machine of the internet. Not so: loopback, private and shared
  // networks, link-local, multicast, ranges for documentation and measurement, what is reserved,
  // and what carries such an IPv4 address inside (mapped, 6to4, NAT64).
  bool is_public() const;

  bool is_v4() const;
  // Whether the first `bits` are those of `other`; an IPv4 address counts from its own first bit.
  // False where one is IPv4 and the other is not, or there are fewer bits than that.
  bool shares_prefix(const Address& other, int bits) const;
  std::string text() const;

  friend bool operator==(const Address&, const Address&) = default;

 private:
  std::array<std::uint8_t, 16> bytes_{};
};

}  // namespace hearth::fetcher
