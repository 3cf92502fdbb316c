// SPDX-License-Identifier: Apache-2.0
#include "front/config/toml_value.h"

#include <fmt/format.h>

#include "front/config/value.h"

namespace hearth::front {
namespace {

Failed wrong_kind(const Option& option, std::string_view wanted, const toml::node& node) {
  return fail(ErrorCode::kInvalid,
              fmt::format("{} must be {}, not {}", option.name, wanted, kind_of(node)));
}

Result<Value> number_of(const Option& option, const toml::node& node) {
  const auto number = node.value_exact<std::int64_t>();
  if (!number) return wrong_kind(option, "a whole number", node);
  if (auto checked = check_number(option, *number); !checked) return Failed{checked.error()};
  return Value{*number};
}

Result<Value> truth_of(const Option& option, const toml::node& node) {
  const auto truth = node.value_exact<bool>();
  if (!truth) return wrong_kind(option, "true or false", node);
  return Value{*truth};
}

Result<Value> text_of(const Option& option, const toml::node& node) {
  auto text = node.value_exact<std::string>();
  if (!text) return wrong_kind(option, "a string", node);
  if (auto checked = check_text(option, *text); !checked) return Failed{checked.error()};
  return Value{std::move(*text)};
}

Result<Value> keep_alive_of(const Option& option, const toml::node& node) {
  if (node.is_integer() || node.is_floating_point()) {
    const auto keep = KeepAlive::of_seconds(*node.value<double>());
    if (!keep) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("{} is {}", option.name, keep.error().message()));
    }
    return keep_alive_value(option, keep->text());
  }
  const auto text = node.value_exact<std::string>();
  if (!text) return wrong_kind(option, "a string or a number of seconds", node);
  return keep_alive_value(option, *text);
}

std::optional<Value> list_of(const Option& option, const toml::node& node, const std::string& path,
                             Problems& problems) {
  const toml::array* array = node.as_array();
  if (array == nullptr) {
    problems.add(place_of(path, node.source()),
                 wrong_kind(option, "a list of strings", node).value().message());
    return std::nullopt;
  }
  Texts list;
  for (const toml::node& item : *array) {
    Result<Value> text = text_of(option, item);
    if (text) {
      list.push_back(std::get<std::string>(std::move(*text)));
    } else {
      const bool is_text = item.is_string();
      problems.add(place_of(path, item.source()),
                   is_text ? text.error().message()
                           : wrong_kind(option, "a list of strings", item).value().message());
    }
  }
  if (list.size() != array->size()) return std::nullopt;
  return Value{std::move(list)};
}

Result<Value> single_of(const Option& option, const toml::node& node) {
  if (std::holds_alternative<std::int64_t Config::*>(option.member)) {
    return number_of(option, node);
  }
  if (std::holds_alternative<bool Config::*>(option.member)) return truth_of(option, node);
  if (std::holds_alternative<KeepAlive Config::*>(option.member)) {
    return keep_alive_of(option, node);
  }
  return text_of(option, node);
}

}  // namespace

std::string place_of(const std::string& path, const toml::source_region& source) {
  return fmt::format("{}:{}:{}", path, source.begin.line, source.begin.column);
}

std::optional<Value> value_of(const Option& option, const toml::node& node, const std::string& path,
                              Problems& problems) {
  if (std::holds_alternative<Texts Config::*>(option.member)) {
    return list_of(option, node, path, problems);
  }
  Result<Value> value = single_of(option, node);
  if (value) return std::move(*value);
  problems.add(place_of(path, node.source()), value.error().message());
  return std::nullopt;
}

std::string_view kind_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "a whole number";
    case toml::node_type::floating_point:
      return "a number with a fraction";
    case toml::node_type::boolean:
      return "true or false";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::table:
      return "a section";
    default:
      return "a date or time";
  }
}

}  // namespace hearth::front
