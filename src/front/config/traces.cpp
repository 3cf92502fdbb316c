// SPDX-License-Identifier: Apache-2.0
#include "front/config/traces.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/json.h"
#include "base/text.h"
#include "front/config/checks.h"

namespace hearth::front {
namespace {

constexpr std::string_view kScheme = "http://";
constexpr std::string_view kPath = "/v1/traces";
constexpr std::size_t kLongestHeader = 8192;

// Those that say how the post itself is made.
constexpr std::array<std::string_view, 8> kOurs{
    "host",       "connection", "content-length",  "content-type", "transfer-encoding",
    "user-agent", "expect",     "content-encoding"};

bool is_token(std::string_view name) {
  constexpr std::string_view kToken = "abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~";
  return !name.empty() && name.find_first_not_of(kToken) == std::string_view::npos;
}

std::optional<int> digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

// A percent sign that begins no escape is itself: keys hold such.
std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool room = text[i] == '%' && i + 2 < text.size();
    const auto high = room ? digit_of(text[i + 1]) : std::nullopt;
    const auto low = room ? digit_of(text[i + 2]) : std::nullopt;
    out += high && low ? static_cast<char>(*high * 16 + *low) : text[i];
    if (high && low) i += 2;
  }
  return out;
}

}  // namespace

Result<> check_traces_endpoint(const std::string& text) {
  if (text.empty()) return {};
  if (text.starts_with("https://")) {
    return fail(ErrorCode::kInvalid,
                "cannot be https://: traces go out as plain HTTP; a collector on this machine, or "
                "in this network, can send them on encrypted");
  }
  const bool plain = text.find_first_of("?#@") == std::string::npos;
  if (plain && check_probed_url(text)) return {};
  return fail(ErrorCode::kInvalid,
              "must be an address such as \"http://127.0.0.1:4318/v1/traces\", without a user or "
              "a query");
}

std::string full_traces_endpoint(std::string endpoint) {
  const bool bare =
      endpoint.starts_with(kScheme) && endpoint.find('/', kScheme.size()) == std::string::npos;
  if (bare) endpoint += kPath;
  return endpoint;
}

Result<std::pair<std::string, std::string>> parse_traces_header(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string name{lower_case(trimmed(text.substr(0, equals), " \t"))};
  if (equals == std::string_view::npos || text.size() > kLongestHeader) {
    return fail(ErrorCode::kInvalid, "must be headers such as \"authorization=Bearer%20KEY\"");
  }
  if (!is_token(name)) return fail(ErrorCode::kInvalid, "has a header without a name");
  if (std::ranges::find(kOurs, name) != kOurs.end()) {
    return fail(ErrorCode::kInvalid, "must leave the header " + name + " to Hearth");
  }
  std::string value = decoded(trimmed(text.substr(equals + 1), " \t"));
  const bool printable = std::ranges::all_of(value, [](char c) {
    return c == '\t' || (static_cast<unsigned char>(c) >= ' ' && c != '\x7f');
  });
  if (!printable || !is_utf8(value)) {
    return fail(ErrorCode::kInvalid, "has a value that no header can have, for " + name);
  }
  return std::pair{name, std::move(value)};
}

Result<> check_traces_header(const std::string& text) {
  const auto header = parse_traces_header(text);
  if (!header) return Failed{header.error()};
  return {};
}

Result<> check_traces_service_name(const std::string& text) {
  if (!text.empty() && text.size() <= 255) return {};
  return fail(ErrorCode::kInvalid, "must have 1 to 255 bytes");
}

}  // namespace hearth::front
