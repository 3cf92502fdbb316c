// SPDX-License-Identifier: Apache-2.0
#include "cli/wall_time.h"

#include <algorithm>
#include <ctime>
#include <string>

#include "cli/json_fields.h"

namespace hearth::cli {
namespace {

// The year 5138 in seconds; as milliseconds that is 1973.
constexpr double kMostSeconds = 1e11;
constexpr double kMostMilliseconds = 1e14;

std::optional<std::int64_t> from_number(double value) {
  if (!(value > 0)) return std::nullopt;
  if (value < kMostSeconds) return static_cast<std::int64_t>(value * 1e6);
  if (value < kMostMilliseconds) return static_cast<std::int64_t>(value * 1e3);
  return static_cast<std::int64_t>(value);
}

std::optional<std::int64_t> from_text(const std::string& text) {
  std::tm moment{};
  if (::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &moment) == nullptr) return std::nullopt;
  const std::time_t seconds = ::timegm(&moment);
  if (seconds <= 0) return std::nullopt;
  return static_cast<std::int64_t>(seconds) * 1'000'000;
}

}  // namespace

std::optional<std::int64_t> wall_us_in(const boost::json::object& object, std::string_view name) {
  if (const auto number = number_in(object, name)) return from_number(*number);
  return from_text(text_in(object, name));
}

double seconds_since(const boost::json::object& object, std::string_view name,
                     std::int64_t now_us) {
  const auto moment = wall_us_in(object, name);
  if (!moment) return -1;
  return std::max(0.0, static_cast<double>(now_us - *moment) / 1e6);
}

}  // namespace hearth::cli
