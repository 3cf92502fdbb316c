// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/shard_name.h"

#include <fmt/format.h>

#include <charconv>

namespace hearth {
namespace {

constexpr std::size_t kDigits = 5;
constexpr std::string_view kSuffix = ".gguf";

std::optional<int> take_number(std::string_view& text) {
  if (text.size() < kDigits) return std::nullopt;
  const std::string_view digits = text.substr(text.size() - kDigits);
  int value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + kDigits, value);
  if (error != std::errc{} || end != digits.data() + kDigits || value < 1) return std::nullopt;
  text.remove_suffix(kDigits);
  return value;
}

bool take_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

}  // namespace

std::string ShardName::sibling(int other) const {
  return fmt::format("{}-{:05}-of-{:05}{}", stem, other, count, kSuffix);
}

std::optional<ShardName> parse_shard_name(std::string_view path) {
  if (!take_suffix(path, kSuffix)) return std::nullopt;
  const std::optional<int> count = take_number(path);
  if (!count || !take_suffix(path, "-of-")) return std::nullopt;
  const std::optional<int> number = take_number(path);
  if (!number || !take_suffix(path, "-") || *number > *count) return std::nullopt;
  return ShardName{std::string{path}, *number, *count};
}

}  // namespace hearth
