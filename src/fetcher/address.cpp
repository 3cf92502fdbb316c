// SPDX-License-Identifier: Apache-2.0
#include "fetcher/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace hearth::fetcher {
namespace {

constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr int kMappedBits = 96;

struct Block {
  const char* first;
  int bits;
};

// From the registries of special-purpose addresses (RFC 6890 and what has joined them since).
constexpr Block kNotPublicV4[] = {
    {"0.0.0.0", 8},       // this network
    {"10.0.0.0", 8},      // private
    {"100.64.0.0", 10},   // shared by a provider's customers
    {"127.0.0.0", 8},     // loopback
    {"169.254.0.0", 16},  // link-local, and the metadata services of clouds
    {"172.16.0.0", 12},   // private
    {"192.0.0.0", 24},    // protocol assignments
    {"192.0.2.0", 24},    // documentation
    {"192.88.99.0", 24},  // 6to4 relays of old
    {"192.168.0.0", 16},  // private
    {"198.18.0.0", 15},   // measurement
    {"198.51.100.0", 24}, {"203.0.113.0", 24}, {"224.0.0.0", 4},  // multicast
    {"240.0.0.0", 4},                                             // reserved, and broadcast
};

// Of IPv6 only 2000::/3 is handed out; within it these are not.
constexpr Block kHandedOutV6{"2000::", 3};
constexpr Block kNotPublicV6[] = {
    {"2001::", 23},      // protocol assignments, with Teredo, measurement, ORCHID
    {"2001:db8::", 32},  // documentation
    {"3fff::", 20},
};

// An IPv4 address stands inside, after so many bytes.
struct Carrier {
  Block block;
  std::ptrdiff_t offset;
};
constexpr Carrier kCarriers[] = {{{"2002::", 16}, 2}, {{"64:ff9b::", 96}, 12}};

bool lies_in(const Address& address, const Block& block) {
  return address.shares_prefix(*Address::parse(block.first), block.bits);
}

template <class Blocks>
bool lies_in_any(const Address& address, const Blocks& blocks) {
  return std::ranges::any_of(blocks, [&](const Block& block) { return lies_in(address, block); });
}

}  // namespace

std::optional<Address> Address::parse(std::string_view text) {
  const std::string terminated{text};
  Address address;
  if (::inet_pton(AF_INET6, terminated.c_str(), address.bytes_.data()) == 1) return address;
  std::ranges::copy(kMapped, address.bytes_.begin());
  if (::inet_pton(AF_INET, terminated.c_str(), address.bytes_.data() + kMapped.size()) == 1) {
    return address;
  }
  return std::nullopt;
}

std::optional<Address> Address::of(const sockaddr& from) {
  Address address;
  if (from.sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &from, sizeof v4);
    std::ranges::copy(kMapped, address.bytes_.begin());
    std::memcpy(address.bytes_.data() + kMapped.size(), &v4.sin_addr, sizeof v4.sin_addr);
    return address;
  }
  if (from.sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 v6{};
  std::memcpy(&v6, &from, sizeof v6);
  std::memcpy(address.bytes_.data(), &v6.sin6_addr, sizeof v6.sin6_addr);
  return address;
}

bool Address::is_public() const {
  if (is_v4()) return !lies_in_any(*this, kNotPublicV4);
  for (const Carrier& carrier : kCarriers) {
    if (!lies_in(*this, carrier.block)) continue;
    Address inner;
    std::ranges::copy(kMapped, inner.bytes_.begin());
    std::copy_n(std::next(bytes_.begin(), carrier.offset), 4,
                std::next(inner.bytes_.begin(), std::ssize(kMapped)));
    return inner.is_public();
  }
  return lies_in(*this, kHandedOutV6) && !lies_in_any(*this, kNotPublicV6);
}

bool Address::is_v4() const { return std::equal(kMapped.begin(), kMapped.end(), bytes_.begin()); }

bool Address::shares_prefix(const Address& other, int bits) const {
  if (is_v4() != other.is_v4()) return false;
  const int all = bits + (is_v4() ? kMappedBits : 0);
  if (bits < 0 || all > 128) return false;
  for (int i = 0; i < all; i += 8) {
    const auto at = static_cast<std::size_t>(i / 8);
    const int wanted = std::min(8, all - i);
    const auto mask = static_cast<std::uint8_t>(0xff << (8 - wanted));
    if (((bytes_[at] ^ other.bytes_[at]) & mask) != 0) return false;
  }
  return true;
}

std::string Address::text() const {
  std::array<char, INET6_ADDRSTRLEN> out{};
  const void* from = is_v4() ? bytes_.data() + kMapped.size() : bytes_.data();
  ::inet_ntop(is_v4() ? AF_INET : AF_INET6, from, out.data(), out.size());
  return out.data();
}

}  // namespace hearth::fetcher
