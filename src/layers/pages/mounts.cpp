// SPDX-License-Identifier: Apache-2.0
#include "layers/pages/mounts.h"

#include <algorithm>
#include <vector>

namespace hearth {
namespace {

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    if (end > 0) words.push_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

bool is_octal(char c) { return c >= '0' && c <= '7'; }

// Blanks and backslashes are written as three octal digits.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) &&
                        is_octal(text[i + 2]) && is_octal(text[i + 3]);
    if (!escape) {
      out += text[i];
      continue;
    }
    out +=
        static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
    i += 3;
  }
  return out;
}

// "36 35 98:0 /root /point options optional... - type source options"
std::optional<Mount> mount_in(std::string_view line) {
  const std::size_t middle = line.find(" - ");
  if (middle == std::string_view::npos) return std::nullopt;
  const auto before = words_of(line.substr(0, middle));
  const auto after = words_of(line.substr(middle + 3));
  if (before.size() < 5 || after.empty()) return std::nullopt;
  return Mount{std::string{before[2]}, unescaped(before[4]), std::string{after[0]},
               after.size() > 1 ? unescaped(after[1]) : std::string{}};
}

bool is_above(std::string_view point, std::string_view path) {
  if (point == "/" || point == path) return true;
  return path.starts_with(point) && path[point.size()] == '/';
}

}  // namespace

std::optional<Mount> mount_of(std::string_view mountinfo, std::string_view path) {
  std::optional<Mount> best;
  while (!mountinfo.empty()) {
    const std::size_t end = std::min(mountinfo.find('\n'), mountinfo.size());
    std::optional<Mount> mount = mount_in(mountinfo.substr(0, end));
    mountinfo.remove_prefix(std::min(end + 1, mountinfo.size()));
    if (!mount || mount->point.empty() || !is_above(mount->point, path)) continue;
    if (!best || mount->point.size() >= best->point.size()) best = std::move(mount);
  }
  return best;
}

std::string server_of(std::string_view source) {
  if (source.starts_with("//")) {
    const std::string_view rest = source.substr(2);
    return std::string{rest.substr(0, rest.find('/'))};
  }
  if (source.starts_with('[')) {
    return std::string{source.substr(0, std::min(source.find(']'), source.size() - 1) + 1)};
  }
  return std::string{source.substr(0, source.find(':'))};
}

}  // namespace hearth
