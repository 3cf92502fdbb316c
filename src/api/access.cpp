// SPDX-License-Identifier: Apache-2.0
#include "api/access.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace hearth::api {
namespace {

std::string lower(std::string_view text) {
  std::string out{text};
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

// "[::1]:80" -> "[::1]", "a.b:80" -> "a.b"
std::string_view without_port(std::string_view authority) {
  if (authority.starts_with('[')) return authority.substr(0, authority.find(']') + 1);
  return authority.substr(0, authority.find(':'));
}

bool is_address(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) return true;
  return !host.empty() && host.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool is_known(std::string_view authority, std::span<const std::string> extra) {
  std::string host = lower(without_port(authority));
  if (host.ends_with('.')) host.pop_back();
  if (host.empty()) return false;
  if (is_address(host) || host.find('.') == std::string::npos) return true;
  for (std::string_view suffix : {".localhost", ".local", ".internal"}) {
    if (host.ends_with(suffix)) return true;
  }
  return std::ranges::any_of(extra, [&](const std::string& name) { return lower(name) == host; });
}

// Anybody can serve a page from an address: it must be this machine's, or the one that was called.
bool may_send_pages(std::string_view authority, std::string_view called,
                    std::span<const std::string> extra) {
  const std::string_view host = without_port(authority);
  if (!is_address(host)) return is_known(authority, extra);
  return host.starts_with("127.") || host == "[::1]" || host == without_port(called);
}

}  // namespace

std::optional<std::string> refusal_of(const http::HttpRequest& request,
                                      std::span<const std::string> extra) {
  // HTTP/1.0 clients may leave Host out; browsers never do.
  const auto host = request.header("Host");
  if (host && !is_known(*host, extra)) {
    return "this server is not known under the name in the Host header";
  }
  const auto origin = request.header("Origin");
  if (!origin) return std::nullopt;
  const std::size_t scheme = origin->find("://");
  if (scheme != std::string_view::npos &&
      may_send_pages(origin->substr(scheme + 3), host.value_or(""), extra)) {
    return std::nullopt;
  }
  return "pages of this origin may not use this server";
}

}  // namespace hearth::api
