// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <toml++/toml.h>

#include <optional>
#include <string>
#include <string_view>

#include "front/config/options.h"
#include "front/config/problems.h"

// Values of the file. Only the other parts of the file's reader may include this: TOML++ is large.
namespace hearth::front {

struct PlacedKey {
  std::string_view name;
  std::string place;
};

// "FILE:LINE:COLUMN"
std::string place_of(const std::string& path, const toml::source_region& source);

// The checked value; nothing, and one of `problems` more, when it cannot be one of this option's.
std::optional<Value> value_of(const Option& option, const toml::node& node, const std::string& path,
                              Problems& problems);

// "a string", "a section", ...
std::string_view kind_of(const toml::node& node);

}  // namespace hearth::front
