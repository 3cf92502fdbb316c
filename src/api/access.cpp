// SPDX-License-Identifier: Apache-2.0
#include "api/access.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <string_view>

#include "base/text.h"

namespace hearth::api {
namespace {

// "a.b:80", "[::1]:80"
struct Authority {
  std::string host;  // lower case, without a dot at its end
  std::string port;  // digits, or "*" in a rule; empty without one
};

// Made of what names, addresses and rules are made of, so that no part of it hides another.
bool is_plain(std::string_view host) {
  constexpr std::size_t kLongest = 255;
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    return host.find_first_not_of("0123456789abcdef:.") == std::string_view::npos;
  }
  return host.size() <= kLongest && !host.starts_with('.') &&
         host.find("..") == std::string_view::npos &&
         std::ranges::all_of(host, [](unsigned char c) {
           return std::isalnum(c) != 0 || c >= 0x80 || c == '.' || c == '-' || c == '_' || c == '*';
         });
}

std::optional<Authority> authority_of(std::string_view text) {
  const std::size_t end = text.starts_with('[') ? text.find(']') + 1 : text.find(':');
  Authority out{lower_case(text.substr(0, end)), {}};
  if (out.host.ends_with('.')) out.host.pop_back();
  if (!is_plain(out.host)) return std::nullopt;
  if (end >= text.size()) return out;
  if (text[end] != ':') return std::nullopt;
  out.port = text.substr(end + 1);
  const bool digits = out.port.find_first_not_of("0123456789") == std::string::npos;
  if (!digits && out.port != "*") return std::nullopt;
  return out;
}

struct Origin {
  std::string scheme;  // lower case; empty in a rule for http and https
  Authority at;
};

std::optional<Origin> origin_of(std::string_view text) {
  const std::size_t mark = text.find("://");
  if (mark == std::string_view::npos) return std::nullopt;
  auto at = authority_of(text.substr(mark + 3));
  if (!at) return std::nullopt;
  Origin out{lower_case(text.substr(0, mark)), std::move(*at)};
  const bool is_default = (out.scheme == "http" && out.at.port == "80") ||
                          (out.scheme == "https" && out.at.port == "443");
  if (is_default) out.at.port.clear();
  return out;
}

bool is_address(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) return true;
  return !host.empty() && host.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool fits(std::string_view host, std::string_view rule) {
  if (rule == "*") return true;
  if (!rule.starts_with("*.")) return host == rule;
  rule.remove_prefix(1);
  return host.size() > rule.size() && host.ends_with(rule);
}

// A name that nobody can register.
bool is_local_name(std::string_view host) {
  if (host.empty() || is_address(host)) return false;
  if (host.find('.') == std::string_view::npos) return true;
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{".localhost", ".local", ".internal"},
      [&](std::string_view suffix) { return host.ends_with(suffix); });
}

bool is_known(std::string_view host, const std::vector<std::string>& hosts) {
  if (host.empty()) return false;
  if (is_address(host) || is_local_name(host)) return true;
  return std::ranges::any_of(hosts, [&](const std::string& rule) {
    const auto name = authority_of(rule);
    return name && fits(host, name->host);
  });
}

bool is_web(std::string_view scheme) { return scheme == "http" || scheme == "https"; }

bool is_listed(const Origin& origin, std::string_view rule) {
  if (rule == "*") return true;
  if (rule.ends_with('/') && !rule.ends_with("://")) rule.remove_suffix(1);
  if (const auto wanted = origin_of(rule)) {
    return origin.scheme == wanted->scheme && fits(origin.at.host, wanted->at.host) &&
           (wanted->at.port == "*" || origin.at.port == wanted->at.port);
  }
  const auto name = authority_of(rule);
  return name && is_web(origin.scheme) && fits(origin.at.host, name->host) &&
         (name->port.empty() || name->port == "*" || name->port == origin.at.port);
}

// Without a rule that says so.
bool is_local(const Origin& origin, std::string_view called) {
  static constexpr std::array<std::string_view, 5> kDesktop{"app", "file", "tauri", "vscode-file",
                                                            "vscode-webview"};
  if (std::ranges::find(kDesktop, origin.scheme) != kDesktop.end()) return true;
  if (!is_web(origin.scheme)) return false;
  const std::string& host = origin.at.host;
  if (!is_address(host)) return is_local_name(host) || (!host.empty() && host == called);
  return host.starts_with("127.") || host == "[::1]" || host == called;
}

bool may_ask(std::string_view text, std::string_view called, const front::AccessRules& rules) {
  if (text == "null") return std::ranges::find(rules.origins, "null") != rules.origins.end();
  const auto origin = origin_of(text);
  if (!origin) return false;
  return is_local(*origin, called) ||
         std::ranges::any_of(rules.origins,
                             [&](const std::string& rule) { return is_listed(*origin, rule); });
}

}  // namespace

Arrival arrival_of(const http::HttpRequest& request, const front::AccessRules& rules) {
  std::string called;
  if (const auto host = request.header("Host")) {
    auto authority = authority_of(*host);
    if (!authority || !is_known(authority->host, rules.hosts)) {
      return {
          "this server is not known under the name in the Host header; the option `hosts` "
          "lists further ones",
          {}};
    }
    called = std::move(authority->host);
  }
  const auto origin = request.header("Origin");
  if (!origin) return {};
  if (may_ask(*origin, called, rules)) return {std::nullopt, std::string{*origin}};
  return {"pages of this origin may not use this server; the option `origins` lists those that may",
          {}};
}

}  // namespace hearth::api
