// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "front/config/options.h"

namespace hearth::front {

Value value_in(const Config& config, const Option& option);
// `value` must be of the option's kind.
void set_value(Config& config, const Option& option, Value value);

// Nothing for what the section does not say.
std::optional<Value> value_in(const ModelOptions& model, const ModelOption& option);
void set_value(ModelOptions& model, const ModelOption& option, Value value);
void clear_value(ModelOptions& model, const ModelOption& option);

// From the environment or the command line; a list is separated by commas or spaces. The value is
// checked. Errors: kInvalid, as a sentence.
Result<Value> parse_value(const Option& option, std::string_view text);

// As parse_value(), but a number beyond the option's bounds becomes the nearest within, and items
// of a list that are wrong are left out; `complaints` has one sentence for each.
struct Bent {
  Value value;
  std::vector<std::string> complaints;
};
Result<Bent> parse_bent(const Option& option, std::string_view text);

// Bounds of a number; words and check of one text. Errors: kInvalid, as a sentence.
Result<> check_number(const Option& option, std::int64_t value);
Result<> check_text(const Option& option, const std::string& text);
// "": until the memory is wanted.
Result<Value> keep_alive_value(const Option& option, std::string_view text);

// As JSON, which is also how the file would have it: `"info"`, `4`, `["prefix"]`.
std::string json_of(const Value& value);

}  // namespace hearth::front
