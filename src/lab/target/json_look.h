// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace hearth::lab {

// Looking into JSON of which nothing is certain: whatever is not there, or is of another type, is
// nullptr, nullopt or empty.

inline const boost::json::value* look(const boost::json::value& from,
                                      std::initializer_list<std::string_view> path) {
  const boost::json::value* at = &from;
  for (const std::string_view step : path) {
    const boost::json::object* object = at->if_object();
    at = object == nullptr ? nullptr : object->if_contains({step.data(), step.size()});
    if (at == nullptr) return nullptr;
  }
  return at;
}

inline std::string text_at(const boost::json::value& from,
                           std::initializer_list<std::string_view> path) {
  const boost::json::value* found = look(from, path);
  if (found == nullptr || !found->is_string()) return {};
  const boost::json::string& text = found->get_string();
  return {text.data(), text.size()};
}

inline std::optional<double> number_at(const boost::json::value& from,
                                       std::initializer_list<std::string_view> path) {
  const boost::json::value* found = look(from, path);
  if (found == nullptr || !found->is_number()) return std::nullopt;
  return found->to_number<double>();
}

inline const boost::json::array* array_at(const boost::json::value& from,
                                          std::initializer_list<std::string_view> path) {
  const boost::json::value* found = look(from, path);
  return found == nullptr ? nullptr : found->if_array();
}

inline bool true_at(const boost::json::value& from, std::initializer_list<std::string_view> path) {
  const boost::json::value* found = look(from, path);
  return found != nullptr && found->is_bool() && found->get_bool();
}

}  // namespace hearth::lab
