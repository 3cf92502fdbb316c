// SPDX-License-Identifier: Apache-2.0
#include "front/memory/figures.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace hearth::front {

std::optional<std::uint64_t> number_at(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) return std::numeric_limits<std::uint64_t>::max();
  if (error != std::errc{}) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> figure_in(std::string_view text, std::string_view key) {
  for (const std::string_view line : pieces_of(text, '\n')) {
    if (!line.starts_with(key)) continue;
    std::string_view rest = line.substr(key.size());
    if (rest.starts_with(':')) rest.remove_prefix(1);
    if (rest.empty() || (rest.front() != ' ' && rest.front() != '\t')) continue;
    return number_at(rest);
  }
  return std::nullopt;
}

std::vector<std::string_view> pieces_of(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) pieces.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return pieces;
}

}  // namespace hearth::front
