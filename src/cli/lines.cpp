// SPDX-License-Identifier: Apache-2.0
#include "cli/lines.h"

#include "cli/display_width.h"

namespace hearth::cli {
namespace {

constexpr std::size_t kKeyWidth = 10;

// What comes after `indent` cells that are already written.
std::string broken(std::string_view words, std::size_t indent, const OutputStyle& style) {
  std::string plain = one_line(words);
  if (!style.terminal) return plain;
  return wrap(plain, style.width, std::string(indent, ' ')).substr(indent);
}

}  // namespace

std::string key_line(std::string_view key, std::string_view words, const OutputStyle& style) {
  if (words.empty()) return {};
  return style.paint(Paint::kDim, pad_right(std::string{key}, kKeyWidth)) +
         broken(words, kKeyWidth, style) + '\n';
}

std::string sentence_line(std::string_view words, std::size_t indent, const OutputStyle& style) {
  if (words.empty()) return {};
  if (!style.terminal || style.width <= indent) return one_line(words) + '\n';
  OutputStyle narrower = style;
  narrower.width = style.width - indent;
  std::string text = broken(words, 0, narrower);
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
    text.insert(at + 1, indent, ' ');
  }
  return text + '\n';
}

std::string heading_line(std::string_view words, const OutputStyle& style) {
  return style.paint(Paint::kBold, words) + '\n';
}

}  // namespace hearth::cli
