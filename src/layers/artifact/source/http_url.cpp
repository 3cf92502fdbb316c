// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/source/http_url.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace hearth {
namespace {

constexpr std::size_t kMaxLength = 2048;
constexpr std::size_t kMaxHost = 253;
constexpr std::uint16_t kHttps = 443;
constexpr std::uint16_t kHttp = 80;

Failed invalid(std::string message) {
  return fail(ErrorCode::kInvalid, "address: " + std::move(message));
}

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_unreserved(char c) {
  return is_letter_or_digit(c) || std::string_view{"-_.~"}.find(c) != std::string_view::npos;
}

bool is_path_character(char c) {
  return is_unreserved(c) || std::string_view{"/!$&'()*+,;=:@"}.find(c) != std::string_view::npos;
}

bool is_query_character(char c) { return is_path_character(c) || c == '?' || c == '%'; }

bool is_host_character(char c) { return is_letter_or_digit(c) || c == '.' || c == '-' || c == '_'; }

bool is_ipv6_character(char c) {
  return std::string_view{"0123456789abcdef:."}.find(c) != std::string_view::npos;
}

std::string escaped_but(std::string_view text, std::string_view kept) {
  std::string out;
  for (const char c : text) {
    if (is_unreserved(c) || kept.find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

bool has_upward_step(std::string_view path) {
  while (!path.empty()) {
    path.remove_prefix(1);  // a slash
    const std::string_view step = path.substr(0, path.find('/'));
    if (step == "." || step == "..") return true;
    path.remove_prefix(step.size());
  }
  return false;
}

// Takes ":port" off the end of an authority.
Result<> take_port(std::string_view& authority, HttpUrl& url) {
  const std::size_t bracket = authority.rfind(']');
  const std::size_t colon = authority.rfind(':');
  if (colon == std::string_view::npos) return {};
  if (bracket != std::string_view::npos && colon < bracket) return {};
  const std::string_view digits = authority.substr(colon + 1);
  const char* last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, url.port);
  if (error != std::errc{} || end != last || url.port == 0) return invalid("its port is no number");
  authority = authority.substr(0, colon);
  return {};
}

Result<> read_authority(std::string_view authority, HttpUrl& url) {
  if (authority.find('@') != std::string_view::npos) {
    return invalid("a user or password in it is not accepted; they would be kept and shown");
  }
  url.port = url.scheme == "https" ? kHttps : kHttp;
  if (Result<> taken = take_port(authority, url); !taken) return taken;
  url.host = lower_case(authority);
  if (url.host.starts_with('[') && url.host.ends_with(']')) {
    url.host = url.host.substr(1, url.host.size() - 2);
    if (url.host.find(':') != std::string::npos &&
        std::ranges::all_of(url.host, is_ipv6_character)) {
      return {};
    }
    return invalid("its host is no IPv6 address");
  }
  const bool fit = !url.host.empty() && url.host.size() <= kMaxHost &&
                   std::ranges::all_of(url.host, is_host_character) &&
                   is_letter_or_digit(url.host.front()) && url.host.find("..") == std::string::npos;
  if (!fit) return invalid("it has no host, or one that cannot be");
  return {};
}

Result<> read_path(std::string_view rest, HttpUrl& url) {
  const std::size_t mark = rest.find('?');
  url.path = std::string{rest.substr(0, mark)};
  if (mark != std::string_view::npos) url.query = std::string{rest.substr(mark + 1)};
  if (url.path.find('%') != std::string::npos) {
    return invalid("escapes such as \"%20\" in its path are not accepted");
  }
  if (rest.find('#') != std::string_view::npos) return invalid("it has a \"#\"");
  if (!std::ranges::all_of(url.path, is_path_character) ||
      !std::ranges::all_of(url.query, is_query_character)) {
    return invalid("it has a character that addresses do not have");
  }
  if (has_upward_step(url.path)) return invalid("\".\" and \"..\" as steps are not accepted");
  return {};
}

}  // namespace

std::string HttpUrl::origin() const {
  const bool usual = port == (scheme == "https" ? kHttps : kHttp);
  const bool ipv6 = host.find(':') != std::string::npos;
  std::string text = scheme + "://" + (ipv6 ? "[" + host + "]" : host);
  if (!usual) text += ":" + std::to_string(port);
  return text;
}

Result<HttpUrl> HttpUrl::parse(std::string_view text) {
  if (text.size() > kMaxLength) {
    return invalid(
        fmt::format("it has {} characters, at most {} are accepted", text.size(), kMaxLength));
  }
  HttpUrl url;
  const std::size_t colon = text.find("://");
  if (colon != std::string_view::npos) url.scheme = lower_case(text.substr(0, colon));
  if (url.scheme != "https" && url.scheme != "http") {
    return invalid("it must begin with https:// or http://");
  }
  text.remove_prefix(colon + 3);
  const std::size_t end = std::min(text.find_first_of("/?#"), text.size());
  if (Result<> read = read_authority(text.substr(0, end), url); !read) {
    return Failed{std::move(read).error()};
  }
  if (Result<> read = read_path(text.substr(end), url); !read) {
    return Failed{std::move(read).error()};
  }
  return url;
}

std::string escaped(std::string_view text) { return escaped_but(text, ""); }

std::string escaped_path(std::string_view path) { return escaped_but(path, "/"); }

}  // namespace hearth
