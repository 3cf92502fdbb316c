// SPDX-License-Identifier: Apache-2.0
#include "cli/json_fields.h"

#include <algorithm>

namespace hearth::cli {

std::string text_in(const boost::json::object& object, std::string_view name) {
  const boost::json::value* value = object.if_contains(name);
  if (value == nullptr || !value->is_string()) return {};
  const boost::json::string& text = value->get_string();
  return {text.data(), text.size()};
}

std::optional<double> number_in(const boost::json::object& object, std::string_view name) {
  const boost::json::value* value = object.if_contains(name);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->to_number<double>();
}

std::int64_t integer_in(const boost::json::object& object, std::string_view name) {
  const boost::json::value* value = object.if_contains(name);
  if (value == nullptr) return 0;
  if (value->is_int64()) return value->get_int64();
  return static_cast<std::int64_t>(number_in(object, name).value_or(0));
}

Bytes bytes_in(const boost::json::object& object, std::string_view name) {
  return Bytes{static_cast<std::uint64_t>(std::max<std::int64_t>(integer_in(object, name), 0))};
}

bool flag_in(const boost::json::object& object, std::string_view name) {
  const boost::json::value* value = object.if_contains(name);
  return value != nullptr && value->is_bool() && value->get_bool();
}

double seconds_since(const boost::json::object& object, std::string_view name,
                     std::int64_t now_us) {
  const std::int64_t moment = integer_in(object, name);
  if (moment <= 0) return -1;
  return std::max(0.0, static_cast<double>(now_us - moment) / 1e6);
}

const boost::json::object* object_in(const boost::json::object& object, std::string_view name) {
  const boost::json::value* value = object.if_contains(name);
  return value == nullptr ? nullptr : value->if_object();
}

const boost::json::array* array_in(const boost::json::object& object, std::string_view name) {
  const boost::json::value* value = object.if_contains(name);
  return value == nullptr ? nullptr : value->if_array();
}

const boost::json::object& part_in(const boost::json::object& object, std::string_view name) {
  static const boost::json::object kNone;
  const auto* found = object_in(object, name);
  return found == nullptr ? kNone : *found;
}

std::vector<const boost::json::object*> objects_in(const boost::json::object& object,
                                                   std::string_view name) {
  std::vector<const boost::json::object*> objects;
  const auto* array = array_in(object, name);
  if (array == nullptr) return objects;
  for (const auto& value : *array) {
    if (value.is_object()) objects.push_back(&value.get_object());
  }
  return objects;
}

std::vector<std::string> texts_in(const boost::json::object& object, std::string_view name) {
  std::vector<std::string> texts;
  const auto* list = array_in(object, name);
  if (list == nullptr) return texts;
  for (const auto& value : *list) {
    if (const auto* text = value.if_string()) texts.emplace_back(text->data(), text->size());
  }
  return texts;
}

}  // namespace hearth::cli
