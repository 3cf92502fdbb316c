// SPDX-License-Identifier: Apache-2.0
#include "http/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>

#include <cstring>

namespace hearth::http {
namespace {

const sockaddr_in& v4(const Address& address) {
  return reinterpret_cast<const sockaddr_in&>(address.storage);
}

const sockaddr_in6& v6(const Address& address) {
  return reinterpret_cast<const sockaddr_in6&>(address.storage);
}

}  // namespace

std::uint16_t Address::port() const {
  return ntohs(storage.ss_family == AF_INET ? v4(*this).sin_port : v6(*this).sin6_port);
}

std::string Address::host() const {
  char buffer[INET6_ADDRSTRLEN] = "";
  if (storage.ss_family == AF_INET) {
    ::inet_ntop(AF_INET, &v4(*this).sin_addr, buffer, sizeof buffer);
    return buffer;
  }
  const in6_addr& long_address = v6(*this).sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&long_address)) {
    ::inet_ntop(AF_INET, &long_address.s6_addr[12], buffer, sizeof buffer);
  } else {
    ::inet_ntop(AF_INET6, &long_address, buffer, sizeof buffer);
  }
  return buffer;
}

std::string Address::network() const {
  if (storage.ss_family == AF_INET) return host();
  Address first = *this;
  in6_addr& long_address = reinterpret_cast<sockaddr_in6&>(first.storage).sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&long_address)) return host();
  std::memset(&long_address.s6_addr[8], 0, 8);
  return first.host() + "/64";
}

bool Address::is_loopback() const {
  if (storage.ss_family == AF_INET) return ntohl(v4(*this).sin_addr.s_addr) >> 24 == 127;
  const in6_addr& long_address = v6(*this).sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&long_address)) return long_address.s6_addr[12] == 127;
  return IN6_IS_ADDR_LOOPBACK(&long_address) != 0;
}

std::string Address::text() const { return join_host_port(host(), port()); }

std::string join_host_port(const std::string& host, std::uint16_t port) {
  const bool bracket = host.find(':') != std::string::npos;
  return bracket ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

Result<std::vector<Address>> resolve(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (error != 0) {
    return fail(ErrorCode::kInvalid, fmt::format("resolve {}: {}", host, ::gai_strerror(error)));
  }
  std::vector<Address> addresses;
  for (const addrinfo* item = list; item != nullptr; item = item->ai_next) {
    Address address;
    std::memcpy(&address.storage, item->ai_addr, item->ai_addrlen);
    address.length = item->ai_addrlen;
    addresses.push_back(address);
  }
  ::freeaddrinfo(list);
  return addresses;
}

}  // namespace hearth::http
