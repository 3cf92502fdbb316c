// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace hearth {

// Writes one JSON object, members in the order of the calls. Numbers are written for people: three
// decimals at most, no exponent.
class JsonWriter {
 public:
  JsonWriter& string(std::string_view key, std::string_view value);
  JsonWriter& integer(std::string_view key, std::int64_t value);
  JsonWriter& number(std::string_view key, double value);  // null when not finite
  JsonWriter& milliseconds(std::string_view key, Duration value) {
    return number(key, milliseconds_of(value));
  }
  JsonWriter& yes_or_no(std::string_view key, const bool& value);
  JsonWriter& null(std::string_view key) { return raw(key, "null"); }
  JsonWriter& raw(std::string_view key,
                  std::string_view json);  // an object or array already written

  std::string object() const { return "{" + members_ + "}"; }

 private:
  std::string members_;
};

// "812", "0.4", "12.346"
std::string three_decimals(double value);

}  // namespace hearth
