// SPDX-License-Identifier: Apache-2.0
#include "cli/display_width.h"

#include <algorithm>
#include <array>

namespace hearth::cli {
namespace {

struct Character {
  char32_t code = 0;
  std::size_t length = 1;  // in bytes
};

// Lenient: a byte that starts nothing stands for itself.
Character character_at(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  std::size_t length = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (length == 1 || at + length > text.size()) return {lead, 1};
  char32_t code = lead & (0xFF >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[at + i]);
    if ((next & 0xC0) != 0x80) return {lead, 1};
    code = (code << 6) | (next & 0x3F);
  }
  return {code, length};
}

struct Range {
  char32_t first, last;
};

template <std::size_t n>
bool in(const std::array<Range, n>& ranges, char32_t code) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [code](Range r) { return code >= r.first && code <= r.last; });
}

constexpr std::array<Range, 9> kCombining{{{0x0300, 0x036F},
                                           {0x0483, 0x0489},
                                           {0x0591, 0x05BD},
                                           {0x064B, 0x065F},
                                           {0x1AB0, 0x1AFF},
                                           {0x200B, 0x200F},
                                           {0x20D0, 0x20FF},
                                           {0xFE00, 0xFE0F},
                                           {0xFE20, 0xFE2F}}};

constexpr std::array<Range, 11> kWide{{{0x1100, 0x115F},
                                       {0x2E80, 0x303E},
                                       {0x3041, 0x33FF},
                                       {0x3400, 0x4DBF},
                                       {0x4E00, 0x9FFF},
                                       {0xA000, 0xA4CF},
                                       {0xAC00, 0xD7A3},
                                       {0xF900, 0xFAFF},
                                       {0xFF00, 0xFF60},
                                       {0x1F300, 0x1FAFF},
                                       {0x20000, 0x3FFFD}}};

std::size_t width_of(char32_t code) {
  if (in(kCombining, code)) return 0;
  return in(kWide, code) ? 2 : 1;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    width += width_of(character.code);
    at += character.length;
  }
  return width;
}

std::string pad_right(std::string text, std::size_t width) {
  const std::size_t now = display_width(text);
  if (now < width) text.append(width - now, ' ');
  return text;
}

std::string pad_left(std::string text, std::size_t width) {
  const std::size_t now = display_width(text);
  if (now < width) text.insert(0, width - now, ' ');
  return text;
}

std::string clip(std::string_view text, std::size_t width) {
  std::size_t used = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    used += width_of(character.code);
    if (used > width) return std::string{text.substr(0, at)};
    at += character.length;
  }
  return std::string{text};
}

std::string one_line(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    const bool control = character.code < 0x20 || (character.code >= 0x7F && character.code < 0xA0);
    if (!control) {
      out.append(text.substr(at, character.length));
    } else if (character.code == '\n' || character.code == '\t') {
      out.push_back(' ');
    }
    at += character.length;
  }
  return out;
}

std::string wrap(std::string_view text, std::size_t width, std::string_view indent) {
  std::string out;
  std::size_t column = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t space = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, space - at);
    at = space + 1;
    if (word.empty()) continue;
    const std::size_t cells = display_width(word);
    const bool fits = column > 0 && column + 1 + cells <= width;
    if (!out.empty()) out += fits ? " " : "\n";
    if (!fits) out += indent;
    column = fits ? column + 1 + cells : display_width(indent) + cells;
    out += word;
  }
  return out;
}

}  // namespace hearth::cli
