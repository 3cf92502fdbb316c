// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/stage.h"

namespace hearth::wire {

// Writes one JSON object straight into text, which for a frame per token is several times cheaper
// than building a document first. Malformed UTF-8 is repaired and a number that is not finite is
// clamped, so the result always parses. Not thread-safe.
class JsonWriter {
 public:
  JsonWriter() : out_{"{"} {}

  JsonWriter& number(std::string_view name, std::int64_t value);
  JsonWriter& number(std::string_view name, std::uint64_t value);
  JsonWriter& number(std::string_view name, int value);
  JsonWriter& number(std::string_view name, double value);
  JsonWriter& bytes(std::string_view name, Bytes value) { return number(name, value.count()); }
  JsonWriter& truth(std::string_view name, std::same_as<bool> auto value) {
    return raw(name, value ? "true" : "false");
  }

  // Left out when empty: readers take a missing string or list for an empty one.
  JsonWriter& text(std::string_view name, std::string_view value);
  JsonWriter& texts(std::string_view name, const std::vector<std::string>& values);
  JsonWriter& integers(std::string_view name, std::span<const int> values);
  JsonWriter& stages(std::string_view name, const std::vector<Stage>& stages);

  // `json` is a complete JSON value.
  JsonWriter& raw(std::string_view name, std::string_view json);

  // Ends the object; the writer is spent.
  std::string finish();

 private:
  void begin_member(std::string_view name);

  std::string out_;
};

// Appends `value` as a JSON string with its quotes.
void append_json_string(std::string& out, std::string_view value);

// Appends `value`, clamped to ±1e9, which is what readers accept; NaN becomes 0.
void append_json_number(std::string& out, double value);

}  // namespace hearth::wire
