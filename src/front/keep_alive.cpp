// SPDX-License-Identifier: Apache-2.0
#include "front/keep_alive.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace hearth::front {
namespace {

struct Unit {
  std::string_view name;
  double seconds;
};

// Longer names first where one begins another. Go takes both micro signs.
constexpr std::array kUnits{Unit{"ns", 1e-9},      Unit{"us", 1e-6}, Unit{"\u00b5s", 1e-6},
                            Unit{"\u03bcs", 1e-6}, Unit{"ms", 1e-3}, Unit{"h", 3600},
                            Unit{"m", 60},         Unit{"s", 1}};

Failed wrong(std::string_view text) {
  constexpr std::size_t kShown = 40;
  return fail(ErrorCode::kInvalid,
              fmt::format("a number of seconds or a duration such as \"5m\" or \"1h30m\" is "
                          "expected (negative: until the memory is wanted), not \"{}\"",
                          text.substr(0, kShown)));
}

// Takes digits with at most one point from the front of `text`.
std::optional<double> take_number(std::string_view& text) {
  const std::size_t length = std::min(text.find_first_not_of("0123456789."), text.size());
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + length, value, std::chars_format::fixed);
  if (error != std::errc{} || end != text.data() + length) return std::nullopt;
  text.remove_prefix(length);
  return value;
}

std::optional<double> take_unit(std::string_view& text) {
  const auto unit = std::ranges::find_if(
      kUnits, [text](const Unit& candidate) { return text.starts_with(candidate.name); });
  if (unit == kUnits.end()) return std::nullopt;
  text.remove_prefix(unit->name.size());
  return unit->seconds;
}

}  // namespace

Result<KeepAlive> KeepAlive::of_seconds(double seconds) {
  if (seconds < 0) return until_wanted();
  if (!(seconds <= std::chrono::duration<double>(kLongest).count())) {
    return fail(ErrorCode::kInvalid, "longer than a hundred years; -1 is for ever");
  }
  return after(std::chrono::nanoseconds{std::llround(seconds * 1e9)});
}

Result<KeepAlive> KeepAlive::parse(std::string_view text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest.empty()) return wrong(text);
  double seconds = 0;
  for (bool first = true; !rest.empty(); first = false) {
    const std::optional<double> number = take_number(rest);
    if (!number) return wrong(text);
    if (first && rest.empty()) {
      seconds = *number;
      break;
    }
    const std::optional<double> unit = take_unit(rest);
    if (!unit) return wrong(text);
    seconds += *number * *unit;
  }
  return negative && seconds > 0 ? until_wanted() : of_seconds(seconds);
}

std::string KeepAlive::text() const {
  if (is_until_wanted()) return "-1";
  std::int64_t ns = length_->count();
  constexpr std::int64_t kSecond = 1'000'000'000;
  if (ns == 0) return "0s";
  std::string out;
  if (ns >= 3600 * kSecond) out += fmt::format("{}h", ns / (3600 * kSecond));
  if (ns >= 60 * kSecond) out += fmt::format("{}m", ns / (60 * kSecond) % 60);
  return out + fmt::format("{}s", static_cast<double>(ns % (60 * kSecond)) / 1e9);
}

}  // namespace hearth::front
