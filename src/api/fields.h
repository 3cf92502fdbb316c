// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hearth::api {

// Errors: kInvalid, when the body is empty, no JSON or no object.
Result<boost::json::object> parse_body(const std::string& body);

struct IntegerRange {
  std::int64_t low;
  std::int64_t high;
};

struct NumberRange {
  double low;
  double high;
};

// Reads typed members of one JSON object, and of those within it. The first thing found wrong is
// kept with its full path ("messages[2].content") in the FirstError that all readers of a body
// share; a getter then returns what it returns for an absent member. So a parser reads everything
// and asks for the error once, at the end. Absent and null are the same.
//
// Refers to the object and the error, which must outlive it.
class Fields {
 public:
  using FirstError = std::optional<Error>;

  Fields(const boost::json::object& object, std::string path, FirstError& error)
      : object_{&object}, path_{std::move(path)}, error_{&error} {}

  // Null when the member is absent or null.
  const boost::json::value* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }

  std::optional<std::string> text(std::string_view name) const;
  std::optional<bool> flag(std::string_view name) const;
  std::optional<double> number(std::string_view name, NumberRange range) const;
  // A number without a fraction, however it is written.
  std::optional<std::int64_t> integer(std::string_view name, IntegerRange range) const;
  const boost::json::array* list(std::string_view name) const;
  std::optional<Fields> object(std::string_view name) const;

  // Like the above, and an error when the member is absent, null or empty.
  std::string required_text(std::string_view name) const;

  // A reader of list element `index` of member `name`; an error when it is no object.
  std::optional<Fields> element(std::string_view name, const boost::json::array& list,
                                std::size_t index) const;

  void fail(std::string_view name, std::string message) const;
  void fail_at(std::string path, std::string message) const;
  bool failed() const { return error_->has_value(); }
  std::string path_of(std::string_view name) const;
  const boost::json::object& json() const { return *object_; }

 private:
  const boost::json::object* object_;
  std::string path_;
  FirstError* error_;
};

// The integer that `value` stands for: also 5.0, and unsigned numbers that fit.
std::optional<std::int64_t> integer_of(const boost::json::value& value);

// "a string", "a list", ...: for messages about what was found instead.
std::string_view kind_name(const boost::json::value& value);

}  // namespace hearth::api
