// SPDX-License-Identifier: Apache-2.0
#include "api/json_text.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <utility>

namespace hearth::api {
namespace {

bool needs_escape(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }

void append_escape(std::string& out, char c) {
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
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
  }
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t plain = 0;  // where the run of characters that need nothing begins
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!needs_escape(text[i])) continue;
    out.append(text, plain, i - plain);
    append_escape(out, text[i]);
    plain = i + 1;
  }
  out.append(text, plain);
  out += '"';
}

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

void JsonObject::key(std::string_view name) {
  if (out_.size() > 1) out_ += ',';
  append_json_string(out_, name);
  out_ += ':';
}

JsonObject& JsonObject::text(std::string_view name, std::string_view value) {
  key(name);
  append_json_string(out_, value);
  return *this;
}

JsonObject& JsonObject::text_or_null(std::string_view name, std::string_view value) {
  return value.empty() ? raw(name, "null") : text(name, value);
}

JsonObject& JsonObject::integer(std::string_view name, std::int64_t value) {
  key(name);
  fmt::format_to(std::back_inserter(out_), "{}", value);
  return *this;
}

JsonObject& JsonObject::real(std::string_view name, double value) {
  if (!std::isfinite(value)) return raw(name, "null");
  key(name);
  std::string digits = fmt::format("{:.3f}", value);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits += '0';
  out_ += digits;
  return *this;
}

JsonObject& JsonObject::raw(std::string_view name, std::string_view json) {
  key(name);
  out_ += json;
  return *this;
}

std::string JsonObject::take() {
  out_ += '}';
  return std::exchange(out_, "{");
}

}  // namespace hearth::api
