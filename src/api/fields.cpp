// SPDX-License-Identifier: Apache-2.0
#include "api/fields.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/json.h"

namespace hearth::api {
namespace json = boost::json;

Result<json::object> parse_body(const std::string& body) {
  if (body.find_first_not_of(" \t\r\n") == std::string::npos) {
    return fail(ErrorCode::kInvalid, "the body is empty; a JSON object is expected");
  }
  auto value = parse_json(body);
  if (!value) return Failed{std::move(value).error()};
  if (!value->is_object()) {
    return fail(ErrorCode::kInvalid,
                fmt::format("the body is {}; a JSON object is expected", kind_name(*value)));
  }
  return std::move(value->get_object());
}

std::string_view kind_name(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "a boolean";
    case json::kind::string:
      return "a string";
    case json::kind::array:
      return "a list";
    case json::kind::object:
      return "an object";
    default:
      return "a number";
  }
}

std::optional<std::int64_t> integer_of(const json::value& value) {
  if (value.is_int64()) return value.get_int64();
  if (!value.is_double()) return std::nullopt;  // a uint64 is one that does not fit
  const double number = value.get_double();
  // 2^53: beyond it a double no longer says which integer was meant.
  if (std::trunc(number) != number || std::abs(number) > 9007199254740992.0) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

const json::value* Fields::find(std::string_view name) const {
  const json::value* found = object_->if_contains(name);
  return found == nullptr || found->is_null() ? nullptr : found;
}

std::string Fields::path_of(std::string_view name) const {
  return path_.empty() ? std::string{name} : path_ + "." + std::string{name};
}

void Fields::fail_at(std::string path, std::string message) const {
  if (failed()) return;
  std::string text = path + ": " + std::move(message);
  error_->emplace(Error{ErrorCode::kInvalid, std::move(text)}.at(std::move(path)));
}

void Fields::fail(std::string_view name, std::string message) const {
  fail_at(path_of(name), std::move(message));
}

std::optional<std::string> Fields::text(std::string_view name) const {
  const json::value* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return std::string{std::string_view{value->get_string()}};
  fail(name, fmt::format("a string is expected, not {}", kind_name(*value)));
  return std::nullopt;
}

std::string Fields::required_text(std::string_view name) const {
  std::optional<std::string> value = text(name);
  if (!value || value->empty()) fail(name, "a string is required here");
  return std::move(value).value_or("");
}

std::optional<bool> Fields::flag(std::string_view name) const {
  const json::value* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_bool()) return value->get_bool();
  fail(name, fmt::format("true or false is expected, not {}", kind_name(*value)));
  return std::nullopt;
}

std::optional<double> Fields::number(std::string_view name, NumberRange range) const {
  const json::value* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) {
    fail(name, fmt::format("a number is expected, not {}", kind_name(*value)));
    return std::nullopt;
  }
  const double number = value->to_number<double>();
  if (number >= range.low && number <= range.high) return number;
  fail(name, fmt::format("must be between {} and {}", range.low, range.high));
  return std::nullopt;
}

std::optional<std::int64_t> Fields::integer(std::string_view name, IntegerRange range) const {
  const json::value* value = find(name);
  if (value == nullptr) return std::nullopt;
  const std::optional<std::int64_t> number = integer_of(*value);
  if (number && *number >= range.low && *number <= range.high) return number;
  if (!number && !value->is_uint64()) {
    fail(name, fmt::format("an integer is expected, not {}",
                           value->is_number() ? "a fraction" : kind_name(*value)));
  }
  fail(name, fmt::format("must be between {} and {}", range.low, range.high));
  return std::nullopt;
}

const json::array* Fields::list(std::string_view name) const {
  const json::value* value = find(name);
  if (value == nullptr) return nullptr;
  if (value->is_array()) return &value->get_array();
  fail(name, fmt::format("a list is expected, not {}", kind_name(*value)));
  return nullptr;
}

std::optional<Fields> Fields::object(std::string_view name) const {
  const json::value* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_object()) return Fields{value->get_object(), path_of(name), *error_};
  fail(name, fmt::format("an object is expected, not {}", kind_name(*value)));
  return std::nullopt;
}

std::optional<Fields> Fields::element(std::string_view name, const json::array& list,
                                      std::size_t index) const {
  std::string path = fmt::format("{}[{}]", path_of(name), index);
  const json::value& value = list[index];
  if (value.is_object()) return Fields{value.get_object(), std::move(path), *error_};
  fail_at(std::move(path), fmt::format("an object is expected, not {}", kind_name(value)));
  return std::nullopt;
}

}  // namespace hearth::api
