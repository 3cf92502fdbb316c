// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <boost/json/src.hpp>

namespace hearth {
namespace json = boost::json;
namespace {

// Length of the well-formed character at the head of `text`; 0 when malformed or cut short.
// Table 3-7 of the Unicode standard.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continuation = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  if (text.empty()) return 0;
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return continuation(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const unsigned low = lead == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = lead == 0xED ? 0x9F : 0xBF;
    return continuation(1, low, high) && continuation(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const unsigned low = lead == 0xF0 ? 0x90 : 0x80;
    const unsigned high = lead == 0xF4 ? 0x8F : 0xBF;
    return continuation(1, low, high) && continuation(2) && continuation(3) ? 4 : 0;
  }
  return 0;
}

std::size_t expected_length(unsigned char lead) {
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 1;
}

// True when `tail`, a lead byte and what followed it, lacks only bytes that may still come.
bool can_grow(std::string_view tail) {
  const std::size_t whole = expected_length(static_cast<unsigned char>(tail[0]));
  if (tail.size() >= whole) return false;
  if (tail.size() == 1) return true;
  // The second byte is the only one with limits of its own; any continuation may follow it.
  const std::string completed = std::string{tail} + std::string(whole - tail.size(), '\x80');
  return character_length(completed) == whole;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::size_t complete_utf8_prefix(std::string_view text) {
  // Only the last three bytes can begin a character that is cut short.
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const std::size_t begin = text.size() - back;
    const auto lead = static_cast<unsigned char>(text[begin]);
    if ((lead & 0xC0) == 0x80) continue;
    return can_grow(text.substr(begin)) ? begin : text.size();
  }
  return text.size();
}

std::string repair_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      text.remove_prefix(1);
    } else {
      out.append(text.substr(0, length));
      text.remove_prefix(length);
    }
  }
  return out;
}

Result<json::value> parse_json(std::string_view text) {
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return fail(ErrorCode::kInvalid, "the body is empty; a JSON object was expected");
  }
  if (!is_utf8(text)) return fail(ErrorCode::kInvalid, "the body is not valid UTF-8");
  json::parse_options options;
  options.max_depth = 64;
  json::stream_parser parser{json::storage_ptr{}, options};
  boost::system::error_code error;
  const std::size_t consumed = parser.write_some(text.data(), text.size(), error);
  if (!error && consumed < text.size()) {
    if (text.substr(consumed).find_first_not_of(" \t\r\n") != std::string_view::npos) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("text after the JSON value at byte {}", consumed));
    }
  }
  if (!error) parser.finish(error);
  if (error) {
    return fail(ErrorCode::kInvalid,
                fmt::format("not valid JSON at byte {}: {}", consumed, error.message()));
  }
  return parser.release();
}

}  // namespace hearth
