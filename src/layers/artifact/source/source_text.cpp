// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/source/source_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace hearth {
namespace {

constexpr std::size_t kMaxPart = 96;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

Failed invalid_source(std::string message) {
  return Failed{
      Error{ErrorCode::kInvalid, "where to pull from: " + std::move(message)}.at("model")};
}

Result<> check_part(std::string_view part, std::string_view what) {
  if (part.empty()) return invalid_source(fmt::format("the {} is empty", what));
  if (part.size() > kMaxPart) {
    return invalid_source(fmt::format("the {} has {} characters, at most {} are accepted", what,
                                      part.size(), kMaxPart));
  }
  if (!is_word(part.front())) {
    return invalid_source(fmt::format("the {} must begin with a letter or a digit", what));
  }
  const auto fit = [](char c) { return is_word(c) || c == '.' || c == '-'; };
  if (!std::ranges::all_of(part, fit)) {
    return invalid_source(fmt::format(
        "the {} has a character that is none of letters, digits, \"_\", \".\", \"-\"", what));
  }
  return {};
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool is_sha256(std::string_view text) {
  const auto digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return text.size() == 64 && std::ranges::all_of(text, digit);
}

}  // namespace hearth
