// SPDX-License-Identifier: Apache-2.0
#include "lab/plain_json.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <cmath>

namespace hearth::lab {
namespace {

// Beyond it a double is written with an exponent whoever writes it.
constexpr double kPlainBelow = 1e15, kPlainAbove = 1e-9;

std::string number_text(double number) {
  if (!std::isfinite(number)) return "null";
  const double size = std::abs(number);
  if (size == 0) return "0";
  if (size >= kPlainBelow || size < kPlainAbove)
    return boost::json::serialize(boost::json::value(number));
  std::string text = fmt::format("{}", number);
  // Small ones have an exponent even so.
  if (text.find('e') != std::string::npos) text = fmt::format("{:.25f}", number);
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string array_text(const boost::json::array& array) {
  std::string text = "[";
  for (const boost::json::value& each : array) {
    if (text.size() > 1) text += ',';
    text += plain_json(each);
  }
  return text + ']';
}

std::string object_text(const boost::json::object& object) {
  std::string text = "{";
  for (const auto& [key, value] : object) {
    if (text.size() > 1) text += ',';
    text += boost::json::serialize(key) + ':' + plain_json(value);
  }
  return text + '}';
}

}  // namespace

std::string plain_json(const boost::json::value& value) {
  if (value.is_double()) return number_text(value.get_double());
  if (value.is_array()) return array_text(value.get_array());
  if (value.is_object()) return object_text(value.get_object());
  return boost::json::serialize(value);
}

}  // namespace hearth::lab
