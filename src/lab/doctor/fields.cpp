// SPDX-License-Identifier: Apache-2.0
#include "lab/doctor/fields.h"

#include <cmath>

namespace hearth::lab::fields {
namespace json = boost::json;

std::string text(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

std::optional<double> number(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->to_number<double>();
}

std::optional<Bytes> bytes(const json::object& object, std::string_view name) {
  constexpr double kMost = 9e18;
  const std::optional<double> found = number(object, name);
  if (!found || !(*found >= 0) || *found > kMost) return std::nullopt;
  return Bytes{static_cast<std::uint64_t>(*found)};
}

const json::object& part(const json::object& object, std::string_view name) {
  static const json::object kNone;
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_object() ? value->get_object() : kNone;
}

std::vector<const json::object*> objects(const json::object& object, std::string_view name) {
  std::vector<const json::object*> found;
  const json::value* value = object.if_contains(name);
  if (value == nullptr || !value->is_array()) return found;
  for (const json::value& one : value->get_array()) {
    if (one.is_object()) found.push_back(&one.get_object());
  }
  return found;
}

std::vector<std::string> texts(const json::object& object, std::string_view name) {
  std::vector<std::string> found;
  const json::value* value = object.if_contains(name);
  if (value == nullptr || !value->is_array()) return found;
  for (const json::value& one : value->get_array()) {
    if (one.is_string()) found.emplace_back(one.get_string());
  }
  return found;
}

}  // namespace hearth::lab::fields
