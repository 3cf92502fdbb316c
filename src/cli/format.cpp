// SPDX-License-Identifier: Apache-2.0
#include "cli/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace hearth::cli {
namespace {

// Three significant digits, without an exponent.
std::string three_digits(double value) {
  if (value < 9.995) return fmt::format("{:.2f}", value);
  if (value < 99.95) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

// Divides by `step` while the result would need more than three digits.
std::string scaled(double value, double step, std::span<const std::string_view> units) {
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < units.size()) {
    value /= step;
    ++unit;
  }
  if (unit == 0) return fmt::format("{:.0f}{}", value, units[0]);
  return three_digits(value) + std::string{units[unit]};
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Cuts "-00001-of-00003" off.
std::string_view without_shard(std::string_view stem) {
  const std::size_t of = stem.rfind("-of-");
  if (of == std::string_view::npos || !all_digits(stem.substr(of + 4))) return stem;
  const std::size_t dash = stem.substr(0, of).rfind('-');
  if (dash == std::string_view::npos || !all_digits(stem.substr(dash + 1, of - dash - 1))) {
    return stem;
  }
  return stem.substr(0, dash);
}

}  // namespace

std::string format_bytes(Bytes bytes) {
  static constexpr std::array<std::string_view, 6> kUnits{" B",   " KiB", " MiB",
                                                          " GiB", " TiB", " PiB"};
  return scaled(static_cast<double>(bytes.count()), 1024, kUnits);
}

std::string format_milliseconds(double ms) {
  if (ms < 0.05) return "0 ms";
  if (ms < 9.95) return fmt::format("{:.1f} ms", ms);
  if (ms < 999.5) return fmt::format("{:.0f} ms", ms);
  if (ms < 9'995) return fmt::format("{:.2f} s", ms / 1e3);
  if (ms < 59'950) return fmt::format("{:.1f} s", ms / 1e3);
  const auto seconds = static_cast<std::int64_t>(std::llround(ms / 1e3));
  if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  if (seconds < 86400) return fmt::format("{} h {} min", seconds / 3600, seconds % 3600 / 60);
  return fmt::format("{} d {} h", seconds / 86400, seconds % 86400 / 3600);
}

std::string format_age(double seconds) {
  if (seconds < 0) return "never";
  if (seconds < 10) return "just now";
  if (seconds < 60) return fmt::format("{:.0f} s ago", std::floor(seconds));
  if (seconds < 3600) return fmt::format("{:.0f} min ago", std::floor(seconds / 60));
  if (seconds < 86400) return fmt::format("{:.0f} h ago", std::floor(seconds / 3600));
  return fmt::format("{:.0f} d ago", std::floor(seconds / 86400));
}

std::string format_ahead(double seconds) {
  struct Unit {
    std::string_view name;
    double seconds;
  };
  static constexpr std::array<Unit, 4> kUnits{
      {{"day", 86400}, {"hour", 3600}, {"minute", 60}, {"second", 1}}};
  for (const Unit& unit : kUnits) {
    if (seconds < unit.seconds) continue;
    const double count = std::floor(seconds / unit.seconds);
    return fmt::format("{:.0f} {}{} from now", count, unit.name, count == 1 ? "" : "s");
  }
  return "in a moment";
}

std::string format_span(double seconds) {
  struct Unit {
    std::string_view name;
    double seconds;
  };
  static constexpr std::array<Unit, 3> kUnits{{{"d", 86400}, {"h", 3600}, {"min", 60}}};
  if (seconds < 1) return "now";
  for (const Unit& unit : kUnits) {
    if (seconds != unit.seconds && seconds < 2 * unit.seconds) continue;
    return fmt::format("{:.0f} {}", std::floor(seconds / unit.seconds), unit.name);
  }
  return fmt::format("{:.0f} s", std::floor(seconds));
}

std::string format_count(std::uint64_t count) {
  static constexpr std::array<std::string_view, 5> kUnits{"", "K", "M", "B", "T"};
  return scaled(static_cast<double>(count), 1000, kUnits);
}

std::string format_percent(double fraction) {
  if (!(fraction > 0)) return "0%";
  if (fraction >= 1) return "100%";
  return fmt::format("{:.0f}%", std::clamp(std::round(fraction * 100), 1.0, 99.0));
}

std::string format_grouped(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string default_model_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  std::string name{slash == std::string_view::npos ? path : path.substr(slash + 1)};
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (name.ends_with(".gguf")) name.resize(name.size() - 5);
  name = std::string{without_shard(name)};
  std::replace_if(name.begin(), name.end(), [](char c) { return !is_name_character(c); }, '-');
  const std::size_t first = name.find_first_not_of("-._");
  if (first == std::string::npos) return "model";
  const std::size_t last = name.find_last_not_of("-._");
  return name.substr(first, last - first + 1);
}

}  // namespace hearth::cli
