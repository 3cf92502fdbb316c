// SPDX-License-Identifier: Apache-2.0
#include "fetcher/proxy.h"

#include <charconv>
#include <cstdlib>
#include <optional>

#include "base/text.h"
#include "fetcher/address.h"

namespace hearth::fetcher {
namespace {

std::string either(const Environment& environment, const char* lower, const char* upper) {
  const std::string value = environment(lower);
  return value.empty() ? environment(upper) : value;
}

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Takes a ":port" off the end; an IPv6 address has one only behind brackets.
std::optional<int> take_port(std::string_view& entry) {
  const std::size_t colon = entry.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  if (!entry.starts_with('[') && entry.find(':') != colon) return std::nullopt;
  const std::optional<int> port = number(entry.substr(colon + 1));
  if (port) entry = entry.substr(0, colon);
  return port;
}

bool covers_address(std::string_view entry, const Address& address) {
  const std::size_t slash = entry.find('/');
  const std::optional<Address> network = Address::parse(entry.substr(0, slash));
  if (!network) return false;
  if (slash == std::string_view::npos) return *network == address;
  const std::optional<int> bits = number(entry.substr(slash + 1));
  return bits && address.shares_prefix(*network, *bits);
}

bool covers_name(std::string_view entry, std::string_view host) {
  const std::string name = lower_case(entry);
  std::string_view below = name;
  if (below.starts_with("*.")) below.remove_prefix(1);
  if (below.starts_with('.')) below.remove_prefix(1);
  if (below.empty() || !host.ends_with(below)) return false;
  host.remove_suffix(below.size());
  return host.empty() || host.ends_with('.');
}

bool covers(std::string_view entry, const Url& url) {
  if (entry == "*") return true;
  if (const std::optional<int> port = take_port(entry); port && *port != url.port()) return false;
  if (entry.starts_with('[') && entry.ends_with(']')) entry = entry.substr(1, entry.size() - 2);
  if (const std::optional<Address> address = Address::parse(url.host())) {
    return covers_address(entry, *address);
  }
  return covers_name(std::string{entry}, url.host());
}

}  // namespace

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool goes_direct(const Url& url, std::string_view list) {
  constexpr std::string_view kBetween = ", \t";
  while (!list.empty()) {
    const std::size_t end = list.find_first_of(kBetween);
    const std::string_view entry = list.substr(0, end);
    if (!entry.empty() && covers(entry, url)) return true;
    if (end == std::string_view::npos) break;
    list.remove_prefix(end + 1);
  }
  return false;
}

std::string proxy_for(const Url& url, const Environment& environment) {
  if (goes_direct(url, either(environment, "no_proxy", "NO_PROXY"))) return {};
  const std::string proxy = url.scheme() == "https"
                                ? either(environment, "https_proxy", "HTTPS_PROXY")
                                : either(environment, "http_proxy", "HTTP_PROXY");
  return proxy.empty() ? either(environment, "all_proxy", "ALL_PROXY") : proxy;
}

}  // namespace hearth::fetcher
