// SPDX-License-Identifier: Apache-2.0
#include "wire/json_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/clock.h"
#include "base/json.h"

namespace hearth::wire {
namespace {

constexpr double kLargestNumber = 1e9;

template <class Int>
void append_integer(std::string& out, Int value) {
  const fmt::format_int digits{value};
  out.append(digits.data(), digits.size());
}

void append_escaped(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    default:
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(c));
  }
}

bool needs_escape(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }

// {"n":"prefill","s":12,"e":34,"b":56}; "b" is left out when it is zero.
void append_stage(std::string& out, const Stage& stage) {
  out += "{\"n\":";
  append_json_string(out, name_of(stage.kind));
  out += ",\"s\":";
  append_integer(out, nanoseconds_of(stage.start));
  out += ",\"e\":";
  append_integer(out, nanoseconds_of(std::max(stage.start, stage.end)));
  if (stage.bytes != Bytes{}) {
    out += ",\"b\":";
    append_integer(out, stage.bytes.count());
  }
  out += '}';
}

template <class Items, class Append>
void append_list(std::string& out, const Items& items, Append append) {
  out += '[';
  bool first = true;
  for (const auto& item : items) {
    if (!first) out += ',';
    first = false;
    append(out, item);
  }
  out += ']';
}

}  // namespace

void append_json_string(std::string& out, std::string_view value) {
  if (!is_utf8(value)) {
    append_json_string(out, repair_utf8(value));
    return;
  }
  out += '"';
  while (!value.empty()) {
    const auto plain = std::find_if(value.begin(), value.end(), needs_escape);
    const auto length = static_cast<std::size_t>(plain - value.begin());
    out.append(value.substr(0, length));
    if (plain == value.end()) break;
    append_escaped(out, *plain);
    value.remove_prefix(length + 1);
  }
  out += '"';
}

void append_json_number(std::string& out, double value) {
  if (std::isnan(value)) value = 0.0;
  fmt::format_to(std::back_inserter(out), "{}", std::clamp(value, -kLargestNumber, kLargestNumber));
}

void JsonWriter::begin_member(std::string_view name) {
  if (out_.size() > 1) out_ += ',';
  out_ += '"';
  out_ += name;
  out_ += "\":";
}

JsonWriter& JsonWriter::raw(std::string_view name, std::string_view json) {
  begin_member(name);
  out_ += json;
  return *this;
}

JsonWriter& JsonWriter::number(std::string_view name, std::int64_t value) {
  begin_member(name);
  append_integer(out_, value);
  return *this;
}

JsonWriter& JsonWriter::number(std::string_view name, std::uint64_t value) {
  begin_member(name);
  append_integer(out_, value);
  return *this;
}

JsonWriter& JsonWriter::number(std::string_view name, int value) {
  return number(name, std::int64_t{value});
}

JsonWriter& JsonWriter::number(std::string_view name, double value) {
  begin_member(name);
  append_json_number(out_, value);
  return *this;
}

JsonWriter& JsonWriter::text(std::string_view name, std::string_view value) {
  if (value.empty()) return *this;
  begin_member(name);
  append_json_string(out_, value);
  return *this;
}

JsonWriter& JsonWriter::texts(std::string_view name, const std::vector<std::string>& values) {
  if (values.empty()) return *this;
  begin_member(name);
  append_list(out_, values,
              [](std::string& out, const std::string& value) { append_json_string(out, value); });
  return *this;
}

JsonWriter& JsonWriter::integers(std::string_view name, std::span<const int> values) {
  if (values.empty()) return *this;
  begin_member(name);
  append_list(out_, values, [](std::string& out, int value) { append_integer(out, value); });
  return *this;
}

JsonWriter& JsonWriter::stages(std::string_view name, const std::vector<Stage>& stages) {
  if (stages.empty()) return *this;
  begin_member(name);
  append_list(out_, stages, append_stage);
  return *this;
}

std::string JsonWriter::finish() {
  out_ += '}';
  return std::move(out_);
}

}  // namespace hearth::wire
