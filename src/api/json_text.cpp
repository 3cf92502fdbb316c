// SPDX-License-Identifier: Apache-2.0
#include "api/json_text.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

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

std::string json_strings(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) {
    if (out.size() > 1) out += ',';
    append_json_string(out, text);
  }
  return out + ']';
}

void append_json_floats(std::string& out, std::span<const float> values) {
  char separator = '[';
  for (const float value : values) {
    out += separator;
    separator = ',';
    // Shortest text that reads back as the same float.
    fmt::format_to(std::back_inserter(out), "{}", std::isfinite(value) ? value : 0.0F);
  }
  if (values.empty()) out += '[';
  out += ']';
}

}  // namespace hearth::api
