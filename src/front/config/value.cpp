// SPDX-License-Identifier: Apache-2.0
#include "front/config/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "base/json.h"
#include "base/nearest.h"

namespace hearth::front {
namespace {

template <class... Visitors>
struct Overload : Visitors... {
  using Visitors::operator()...;
};

Failed wrong(const Option& option, std::string_view complaint) {
  return fail(ErrorCode::kInvalid, fmt::format("{} {}", option.name, complaint));
}

Texts items_of(std::string_view text) {
  Texts items;
  std::string item;
  for (const char c : text) {
    if (c != ',' && c != ' ') {
      item += c;
    } else if (!item.empty()) {
      items.push_back(std::exchange(item, {}));
    }
  }
  if (!item.empty()) items.push_back(std::move(item));
  return items;
}

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

Result<Value> parse_number(const Option& option, std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  const bool whole = stop == end && !text.empty();
  if (error == std::errc::result_out_of_range && whole) {
    return wrong(option,
                 fmt::format("must be from {} to {}, not {}", option.least, option.most, text));
  }
  if (error != std::errc{} || !whole) {
    return wrong(option, fmt::format("must be a whole number, not \"{}\"", text));
  }
  if (auto checked = check_number(option, number); !checked) return Failed{checked.error()};
  return Value{number};
}

Result<Value> parse_truth(const Option& option, std::string_view text) {
  for (const std::string_view yes : {"true", "1", "yes", "on"}) {
    if (text == yes) return Value{true};
  }
  for (const std::string_view no : {"false", "0", "no", "off"}) {
    if (text == no) return Value{false};
  }
  return wrong(option, fmt::format("must be true or false, not \"{}\"", text));
}

Result<Value> parse_list(const Option& option, std::string_view text) {
  Texts items = items_of(text);
  for (const std::string& item : items) {
    if (auto checked = check_text(option, item); !checked) return Failed{checked.error()};
  }
  return Value{std::move(items)};
}

std::string quoted(const std::string& text) { return boost::json::serialize(text); }

}  // namespace

Value value_in(const Config& config, const Option& option) {
  return std::visit([&config](auto member) -> Value { return config.*member; }, option.member);
}

void set_value(Config& config, const Option& option, Value value) {
  std::visit(
      [&](auto member) {
        using Held = std::remove_reference_t<decltype(config.*member)>;
        config.*member = std::get<Held>(std::move(value));
      },
      option.member);
}

std::optional<Value> value_in(const ModelOptions& model, const ModelOption& option) {
  return std::visit(Overload{[&model](Texts ModelOptions::* list) -> std::optional<Value> {
                               if ((model.*list).empty()) return std::nullopt;
                               return Value{model.*list};
                             },
                             [&model](auto member) -> std::optional<Value> {
                               if (!(model.*member)) return std::nullopt;
                               return Value{*(model.*member)};
                             }},
                    option.member);
}

void set_value(ModelOptions& model, const ModelOption& option, Value value) {
  std::visit(
      Overload{[&](Texts ModelOptions::* list) { model.*list = std::get<Texts>(std::move(value)); },
               [&](auto member) {
                 using Held = typename std::remove_reference_t<decltype(model.*member)>::value_type;
                 model.*member = std::get<Held>(std::move(value));
               }},
      option.member);
}

void clear_value(ModelOptions& model, const ModelOption& option) {
  std::visit([&model](auto member) { model.*member = {}; }, option.member);
}

Result<Value> parse_value(const Option& option, std::string_view text) {
  if (!is_utf8(text)) return wrong(option, "is not UTF-8");
  if (std::holds_alternative<std::int64_t Config::*>(option.member)) {
    return parse_number(option, text);
  }
  if (std::holds_alternative<bool Config::*>(option.member)) return parse_truth(option, text);
  if (std::holds_alternative<Texts Config::*>(option.member)) return parse_list(option, text);
  if (std::holds_alternative<KeepAlive Config::*>(option.member)) {
    return keep_alive_value(option, text);
  }
  std::string value{text};
  if (auto checked = check_text(option, value); !checked) return Failed{checked.error()};
  return Value{std::move(value)};
}

Result<Bent> parse_bent(const Option& option, std::string_view text) {
  Bent bent{Texts{}, {}};
  if (std::holds_alternative<Texts Config::*>(option.member) && is_utf8(text)) {
    Texts fitting;
    for (std::string& item : items_of(text)) {
      if (auto checked = check_text(option, item); !checked) {
        bent.complaints.push_back(checked.error().message());
      } else {
        fitting.push_back(std::move(item));
      }
    }
    bent.value = std::move(fitting);
    return bent;
  }
  Result<Value> value = parse_value(option, text);
  const auto number = number_in(text);
  if (!value && number && std::holds_alternative<std::int64_t Config::*>(option.member)) {
    bent.complaints.push_back(value.error().message());
    value = Value{std::clamp(*number, option.least, option.most)};
  }
  if (!value) return Failed{std::move(value).error()};
  bent.value = std::move(*value);
  return bent;
}

Result<> check_number(const Option& option, std::int64_t value) {
  if (value >= option.least && value <= option.most) return {};
  return wrong(option,
               fmt::format("must be from {} to {}, not {}", option.least, option.most, value));
}

Result<> check_text(const Option& option, const std::string& text) {
  if (text.find('\0') != std::string::npos) return wrong(option, "has a NUL in it");
  if (!option.words.empty() && std::ranges::find(option.words, text) == option.words.end()) {
    return wrong(option, fmt::format("must be {}, not \"{}\"{}", one_of(option.words), text,
                                     did_you_mean(text, option.words)));
  }
  if (option.check == nullptr) return {};
  if (auto checked = option.check(text); !checked) return wrong(option, checked.error().message());
  return {};
}

Result<Value> keep_alive_value(const Option& option, std::string_view text) {
  const auto parsed = text.empty() ? KeepAlive::until_wanted() : KeepAlive::parse(text);
  if (!parsed) return wrong(option, "is wrong: " + parsed.error().message());
  if (option.check != nullptr) {
    if (auto checked = option.check(parsed->text()); !checked) {
      return wrong(option, checked.error().message());
    }
  }
  return Value{*parsed};
}

std::string json_of(const Value& value) {
  return std::visit(Overload{[](const std::string& text) { return quoted(text); },
                             [](std::int64_t number) { return std::to_string(number); },
                             [](bool truth) { return std::string{truth ? "true" : "false"}; },
                             [](const Texts& list) {
                               std::string out;
                               for (const std::string& item : list) {
                                 out += (out.empty() ? "" : ", ") + quoted(item);
                               }
                               return "[" + out + "]";
                             },
                             [](const KeepAlive& keep) { return quoted(keep.text()); }},
                    value);
}

}  // namespace hearth::front
