// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"

// Quantities as people read them. Pure functions of their arguments, no locale.
namespace hearth::cli {

// Three significant digits in powers of 1024: "0 B", "812 B", "91.7 MiB", "4.07 GiB".
std::string format_bytes(Bytes bytes);

// From 0 to days: "0.4 ms", "812 ms", "3.41 s", "2 min 5 s", "3 h 12 min".
std::string format_milliseconds(double ms);

// How long ago, coarsely: "just now", "5 min ago", "3 h ago", "12 d ago"; "never" for a negative
// age.
std::string format_age(double seconds);

// How long from now, coarsely: "in a moment", "1 minute from now", "3 hours from now".
std::string format_ahead(double seconds);

// A length of time, coarsely, in the largest unit of which there are two, or exactly one: "45 s",
// "90 min", "1 h", "3 d"; "now" for less than a second.
std::string format_span(double seconds);

// A count by thousands: "950", "135M", "7.62B".
std::string format_count(std::uint64_t count);

// 0.4 -> "40%". What has begun is never "0%" and what is not complete is never "100%".
std::string format_percent(double fraction);

// 12345 -> "12,345".
std::string format_grouped(std::uint64_t count);

// The name that `import` gives a file when the user gives none: the file's name in lower case
// without
// ".gguf" and without a shard's "-00001-of-00003"; what a model name cannot hold becomes '-'.
std::string default_model_name(std::string_view path);

}  // namespace hearth::cli
