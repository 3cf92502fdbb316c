// SPDX-License-Identifier: Apache-2.0
#include "lab/report/html_text.h"

#include "base/json.h"

namespace hearth::lab {
namespace {

// U+202A to U+202E and U+2066 to U+2069.
bool turns_direction(std::string_view rest) {
  if (rest.size() < 3 || rest[0] != '\xE2') return false;
  if (rest[1] == '\x80') return rest[2] >= '\xAA' && rest[2] <= '\xAE';
  return rest[1] == '\x81' && rest[2] >= '\xA6' && rest[2] <= '\xA9';
}

// U+0080 to U+009F.
bool is_c1(std::string_view rest) {
  return rest.size() >= 2 && rest[0] == '\xC2' && (rest[1] & 0x60) == 0;
}

std::string_view replacement(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    case '\n':
    case '\t':
      return " ";
    default:
      return {};
  }
}

}  // namespace

std::string escaped(std::string_view text) {
  const std::string sound = repair_utf8(text);
  std::string out;
  for (std::size_t i = 0; i < sound.size(); ++i) {
    const std::string_view rest = std::string_view{sound}.substr(i);
    const std::string_view instead = replacement(sound[i]);
    const auto byte = static_cast<unsigned char>(sound[i]);
    if (turns_direction(rest)) {
      i += 2;
    } else if (is_c1(rest)) {
      i += 1;
    } else if (!instead.empty()) {
      out += instead;
    } else if (byte >= 0x20 && byte != 0x7F) {
      out += sound[i];
    }
  }
  return out;
}

}  // namespace hearth::lab
