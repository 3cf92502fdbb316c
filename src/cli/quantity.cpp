// SPDX-License-Identifier: Apache-2.0
#include "cli/quantity.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <string>

namespace hearth::cli {
namespace {

// From here on a double no longer tells one byte from the next, and nobody has such a machine.
constexpr double kLargest = 9007199254740992.0;

std::optional<double> scale_of(std::string_view unit) {
  if (unit.empty() || unit == "b") return 1;
  constexpr std::string_view kLetters = "kmgt";
  const std::size_t power = kLetters.find(unit.front());
  if (power == std::string_view::npos) return std::nullopt;
  const std::string_view rest = unit.substr(1);
  if (rest.empty() || rest == "i" || rest == "ib") {
    return std::pow(1024.0, static_cast<double>(power + 1));
  }
  if (rest == "b") return std::pow(1000.0, static_cast<double>(power + 1));
  return std::nullopt;
}

std::string lower_without_spaces(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ') out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

}  // namespace

Result<Bytes> parse_size(std::string_view text) {
  const std::string plain = lower_without_spaces(text);
  double number = 0;
  const char* end_of_text = plain.data() + plain.size();
  const auto [end, error] =
      std::from_chars(plain.data(), end_of_text, number, std::chars_format::fixed);
  const auto scale = scale_of(std::string_view{end, static_cast<std::size_t>(end_of_text - end)});
  if (error != std::errc{} || !scale || !(number >= 0) || number * *scale >= kLargest) {
    return fail(ErrorCode::kInvalid,
                fmt::format("\"{}\" is no size; write it as 500M or 2GiB", text));
  }
  return Bytes{static_cast<std::uint64_t>(std::llround(number * *scale))};
}

}  // namespace hearth::cli
