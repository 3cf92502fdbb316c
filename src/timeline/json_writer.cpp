// SPDX-License-Identifier: Apache-2.0
#include "timeline/json_writer.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <cmath>

#include "base/json.h"

namespace hearth {
namespace {

std::string quoted(std::string_view text) {
  return boost::json::serialize(boost::json::string{repair_utf8(text)});
}

}  // namespace

std::string three_decimals(double value) {
  std::string text = fmt::format("{:.3f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

JsonWriter& JsonWriter::string(std::string_view key, std::string_view value) {
  return raw(key, quoted(value));
}

JsonWriter& JsonWriter::integer(std::string_view key, std::int64_t value) {
  return raw(key, fmt::to_string(value));
}

JsonWriter& JsonWriter::number(std::string_view key, double value) {
  return std::isfinite(value) ? raw(key, three_decimals(value)) : null(key);
}

JsonWriter& JsonWriter::yes_or_no(std::string_view key, const bool& value) {
  return raw(key, value ? "true" : "false");
}

JsonWriter& JsonWriter::raw(std::string_view key, std::string_view json) {
  if (!members_.empty()) members_ += ',';
  members_ += quoted(key);
  members_ += ':';
  members_ += json;
  return *this;
}

}  // namespace hearth
