// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hearth::cli {

// A moment in an answer as microseconds since 1970 UTC: "2026-01-31T12:00:00Z" (with or without a
// fraction), or a number of seconds, milliseconds or microseconds, told apart by their size.
// Nothing when the field is absent, null, 0 or unreadable.
std::optional<std::int64_t> wall_us_in(const boost::json::object& object, std::string_view name);

// Seconds from that moment to `now_us`, at least 0; -1 when there is no such moment.
double seconds_since(const boost::json::object& object, std::string_view name, std::int64_t now_us);

}  // namespace hearth::cli
