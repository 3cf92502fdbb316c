// SPDX-License-Identifier: Apache-2.0
#include "wire/object_reader.h"

#include <fmt/format.h>

#include <cmath>

#include "base/clock.h"

namespace hearth::wire {
namespace json = boost::json;

std::optional<double> finite_number(const json::value& value) {
  double number = 0.0;
  if (const double* real = value.if_double()) {
    number = *real;
  } else if (const std::int64_t* whole = value.if_int64()) {
    number = static_cast<double>(*whole);
  } else if (const std::uint64_t* large = value.if_uint64()) {
    number = static_cast<double>(*large);
  } else {
    return std::nullopt;
  }
  if (!std::isfinite(number)) return std::nullopt;
  return number;
}

std::optional<std::int64_t> whole_number(const json::value& value) {
  if (const std::int64_t* whole = value.if_int64()) return *whole;
  return std::nullopt;
}

const json::value* ObjectReader::member(std::string_view name) const {
  return error_ ? nullptr : object_.if_contains(name);
}

std::string ObjectReader::path_of(std::string_view name) const {
  return path_.empty() ? std::string{name} : fmt::format("{}.{}", path_, name);
}

void ObjectReader::wrong(const std::string& path, std::string_view expected) {
  if (!error_)
    error_ = Error{ErrorCode::kCorrupt, fmt::format("{}: {} was expected", path, expected)};
}

void ObjectReader::require(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (!object_.contains(name) && !error_) {
      error_ = Error{ErrorCode::kCorrupt, fmt::format("{}: is missing", path_of(name))};
    }
  }
}

std::optional<std::int64_t> ObjectReader::integer64(std::string_view name,
                                                    Range<std::int64_t> range) {
  const json::value* found = member(name);
  if (found == nullptr) return std::nullopt;
  const std::optional<std::int64_t> value = whole_number(*found);
  if (!value || *value < range.low || *value > range.high) {
    wrong(path_of(name), fmt::format("a whole number from {} to {}", range.low, range.high));
    return std::nullopt;
  }
  return value;
}

std::optional<int> ObjectReader::integer(std::string_view name, Range<int> range) {
  const auto value = integer64(name, {range.low, range.high});
  if (!value) return std::nullopt;
  return static_cast<int>(*value);
}

std::optional<std::uint64_t> ObjectReader::natural(std::string_view name) {
  const json::value* found = member(name);
  if (found == nullptr) return std::nullopt;
  if (const std::uint64_t* large = found->if_uint64()) return *large;
  const std::int64_t* whole = found->if_int64();
  if (whole != nullptr && *whole >= 0) return static_cast<std::uint64_t>(*whole);
  wrong(path_of(name), "a whole number that is not negative");
  return std::nullopt;
}

std::optional<double> ObjectReader::number(std::string_view name, Range<double> range) {
  const json::value* found = member(name);
  if (found == nullptr) return std::nullopt;
  const std::optional<double> value = finite_number(*found);
  if (value && *value >= range.low && *value <= range.high) return value;
  wrong(path_of(name), fmt::format("a number from {} to {}", range.low, range.high));
  return std::nullopt;
}

std::optional<bool> ObjectReader::truth(std::string_view name) {
  const json::value* found = member(name);
  if (found == nullptr) return std::nullopt;
  if (const bool* value = found->if_bool()) return *value;
  wrong(path_of(name), "true or false");
  return std::nullopt;
}

std::string ObjectReader::text(std::string_view name) {
  const json::value* found = member(name);
  if (found == nullptr) return {};
  if (const json::string* value = found->if_string())
    return std::string{value->data(), value->size()};
  wrong(path_of(name), "a string");
  return {};
}

std::vector<std::string> ObjectReader::texts(std::string_view name) {
  std::vector<std::string> all;
  each(name, [&](const json::value& item, const std::string& path) {
    const json::string* value = item.if_string();
    if (value == nullptr) return wrong(path, "a string");
    all.emplace_back(value->data(), value->size());
  });
  return all;
}

std::vector<int> ObjectReader::integers(std::string_view name, Range<int> range) {
  std::vector<int> all;
  const json::value* found = member(name);
  if (found == nullptr) return all;
  const json::array* list = found->if_array();
  if (list == nullptr) {
    wrong(path_of(name), "a list");
    return all;
  }
  all.reserve(list->size());
  for (const json::value& item : *list) {
    const std::optional<std::int64_t> value = whole_number(item);
    if (!value || *value < range.low || *value > range.high) {
      wrong(fmt::format("{}[{}]", path_of(name), all.size()),
            fmt::format("a whole number from {} to {}", range.low, range.high));
      return {};
    }
    all.push_back(static_cast<int>(*value));
  }
  return all;
}

std::vector<Stage> ObjectReader::stages(std::string_view name) {
  constexpr std::int64_t kEndOfTime = std::numeric_limits<std::int64_t>::max();
  std::vector<Stage> all;
  each_object(name, [&](ObjectReader& in) {
    in.require({"n", "s", "e"});
    const std::string kind_name = in.text("n");
    const std::optional<StageKind> kind = stage_named(kind_name);
    if (!kind) in.wrong(in.path_of("n"), "the name of a stage");
    const std::int64_t start = in.integer64("s", {0, kEndOfTime}).value_or(0);
    const std::int64_t end = in.integer64("e", {start, kEndOfTime}).value_or(start);
    Stage stage;
    stage.kind = kind.value_or(StageKind::kQueue);
    stage.start = time_point_of(start);
    stage.end = time_point_of(end);
    stage.bytes = in.bytes("b");
    all.push_back(stage);
  });
  return all;
}

}  // namespace hearth::wire
