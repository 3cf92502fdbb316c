// SPDX-License-Identifier: Apache-2.0
#include "front/config/ollama.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "front/keep_alive.h"

namespace hearth::front::ollama {
namespace {

constexpr std::string_view kPort = "11434";

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool has_port(std::string_view address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return false;
  const std::size_t bracket = address.rfind(']');
  if (bracket != std::string_view::npos) return colon > bracket;
  return address.find(':') == colon;  // an IPv6 address without brackets has several
}

}  // namespace

std::string_view value_of(std::string_view text) {
  constexpr std::string_view kAround = " \t\r\n\"'";
  const std::size_t first = text.find_first_not_of(kAround);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kAround) - first + 1);
}

Translated same(std::string_view text) { return std::string{text}; }

Translated number_or_unset(std::string_view text) {
  if (is_number(text) && text.find_first_not_of('0') == std::string_view::npos) {
    return std::optional<std::string>{};
  }
  return std::string{text};
}

Translated listen(std::string_view text) {
  std::string_view port = kPort;
  if (text.starts_with("https://")) {
    return fail(ErrorCode::kInvalid,
                "https:// is not possible: Hearth speaks plain HTTP, encryption is a proxy's");
  }
  if (text.starts_with("http://")) {
    text.remove_prefix(7);
    port = "80";
  }
  text = text.substr(0, text.find('/'));
  if (has_port(text)) return std::string{text};
  const bool bare_v6 = text.find(':') != std::string_view::npos && !text.starts_with('[');
  const std::string host = bare_v6 ? "[" + std::string{text} + "]" : std::string{text};
  return host + ":" + std::string{port};
}

Translated log_level(std::string_view text) {
  static constexpr std::array<std::string_view, 6> kOff{"0", "f", "F", "false", "False", "FALSE"};
  static constexpr std::array<std::string_view, 6> kOn{"t", "T", "true", "True", "TRUE", "1"};
  if (std::ranges::find(kOff, text) != kOff.end()) return std::optional<std::string>{};
  if (std::ranges::find(kOn, text) != kOn.end() || is_number(text)) return "debug";
  return fail(ErrorCode::kInvalid,
              "must be 0, 1, 2, false or true, not \"" + std::string{text} + "\"");
}

Translated seconds(std::string_view text) {
  const auto length = KeepAlive::parse(text);
  if (!length) return Failed{length.error()};
  if (length->is_until_wanted()) return "0";
  return std::to_string(std::chrono::ceil<std::chrono::seconds>(length->length()).count());
}

}  // namespace hearth::front::ollama
