// SPDX-License-Identifier: Apache-2.0
#include "base/host_rule.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/text.h"

namespace hearth {
namespace {

constexpr std::uint16_t kHttps = 443;
constexpr std::uint16_t kHttp = 80;

Failed unfit(std::string_view text) {
  return fail(ErrorCode::kInvalid,
              "must be hosts such as \"models.example\", \"*.example\", \"mirror.example:8443\" or "
              "\"http://nas.lan:8080\", without a path, not \"" +
                  std::string{text} + "\"");
}

bool is_host_character(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || c == '.' || c == '-' || c == '_' || c == ':';
}

// Takes "scheme://" off the front; false for a scheme that nothing is fetched over.
bool take_scheme(std::string_view& rest, std::string& scheme) {
  scheme = "https";
  const std::size_t end = rest.find("://");
  if (end == std::string_view::npos) return true;
  scheme = lower_case(rest.substr(0, end));
  rest.remove_prefix(end + 3);
  return scheme == "https" || scheme == "http";
}

// Takes ":port" off the end; false when it is there and no port.
bool take_port(std::string_view& rest, std::uint16_t& port) {
  const std::size_t colon = rest.rfind(':');
  const std::size_t bracket = rest.rfind(']');
  if (colon == std::string_view::npos) return true;
  if (bracket != std::string_view::npos ? colon < bracket : rest.find(':') != colon) return true;
  const std::string_view digits = rest.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  rest = rest.substr(0, colon);
  return error == std::errc{} && end == digits.data() + digits.size() && port != 0;
}

}  // namespace

Result<HostRule> HostRule::parse(std::string_view text) {
  HostRule rule;
  std::string_view rest = text;
  if (!take_scheme(rest, rule.scheme_)) return unfit(text);
  rule.port_ = rule.scheme_ == "http" ? kHttp : kHttps;
  if (!take_port(rest, rule.port_)) return unfit(text);
  if (rest == "*") {
    rule.wildcard_ = Wildcard::kAll;
    return rule;
  }
  if (rest.starts_with("*.")) {
    rule.wildcard_ = Wildcard::kBelow;
    rest.remove_prefix(1);  // with its dot
  }
  if (rest.starts_with('[') && rest.ends_with(']')) rest = rest.substr(1, rest.size() - 2);
  const bool fit = !rest.empty() && rest != "." && std::ranges::all_of(rest, is_host_character);
  if (!fit) return unfit(text);
  rule.host_ = lower_case(rest);
  return rule;
}

bool HostRule::matches(std::string_view scheme, std::string_view host, std::uint16_t port) const {
  if (scheme != scheme_ || port != port_) return false;
  switch (wildcard_) {
    case Wildcard::kAll:
      return true;
    case Wildcard::kBelow:
      return host.size() > host_.size() && host.ends_with(host_);
    case Wildcard::kNone:
      return host == host_;
  }
  return false;
}

}  // namespace hearth
